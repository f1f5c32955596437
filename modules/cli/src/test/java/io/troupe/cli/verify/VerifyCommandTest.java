package io.troupe.cli.verify;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import io.troupe.base.process.ExitCode;
import io.troupe.cli.Main;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.io.PrintStream;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.ResourceLock;
import org.junit.jupiter.api.parallel.Resources;

@ResourceLock(Resources.SYSTEM_ERR)
class VerifyCommandTest {
  @TempDir Path folder;

  /** The exit code and the errors of a command. */
  private record Ended(int code, String err) {}

  private Ended run(String... arguments) {
    PrintStream before = System.err;
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    StringWriter usage = new StringWriter();
    System.setErr(new PrintStream(bytes, true, UTF_8));
    try {
      int code = Main.commandLine().setErr(new PrintWriter(usage)).execute(arguments);
      return new Ended(code, bytes.toString(UTF_8) + usage);
    } finally {
      System.setErr(before);
    }
  }

  private Ended verify(String verifier, String... lines) throws IOException {
    Path input = Files.write(folder.resolve("in.jsonl"), List.of(lines));
    return run(
        "verify",
        verifier,
        "--set",
        "mode=strict",
        "--input",
        input.toString(),
        "--output",
        output().toString());
  }

  private Path output() {
    return folder.resolve("out.jsonl");
  }

  @Test
  void verify_lines_areJudgedInTheirOrder() throws IOException {
    String[] lines =
        IntStream.range(0, 1000)
            .mapToObj(
                i ->
                    "{\"id\": %d, \"completion\": \"The answer is %d.\", \"answer\": \"%d\"}"
                        .formatted(i, i, i % 3 == 0 ? i : i + 1))
            .toArray(String[]::new);

    Ended ended = verify("gsm8k", lines);

    assertThat(ended).isEqualTo(new Ended(0, ended.err()));
    assertThat(ended.err()).endsWith("1,000 scored, 334 passed (33.4 %), mean reward 0.3340\n");
    List<String> written = Files.readAllLines(output());
    assertThat(written).hasSize(1000);
    assertThat(written.get(999))
        .startsWith(
            "{\"id\":999,\"reward\":1.0,\"passed\":true,\"outcome\":\"scored\",\"reason\":\"equal\","
                + "\"extracted\":\"999\",\"millis\":");
    assertThat(written.get(998)).startsWith("{\"id\":998,\"reward\":0.0,\"passed\":false,");
    assertThat(folder.resolve("out.jsonl.partial")).doesNotExist();
  }

  @Test
  void verify_badLines_areNamedAndTheRestIsDone() throws IOException {
    Ended ended =
        verify(
            "gsm8k",
            "{\"id\": \"a\", \"completion\": \"The answer is 1.\", \"answer\": \"1\"}",
            "nonsense",
            "",
            "{\"completion\": \"x\", \"answer\": \"1\"}",
            "{\"id\": \"b\", \"answer\": \"1\"}",
            "{\"id\": \"c\", \"completion\": \"x\"}",
            "{\"id\": \"d\", \"completion\": \"The answer is 2.\", \"answer\": 2}");

    assertThat(ended.code()).isEqualTo(ExitCode.INCOMPLETE.code());
    assertThat(ended.err())
        .contains("in.jsonl line 2 is not JSON")
        .contains("in.jsonl line 4 needs \"id\"")
        .contains("in.jsonl line 5 needs \"completion\", a text (id b)")
        .contains("in.jsonl line 6 (id c) could not be judged: ")
        .contains("2 scored, 2 passed (100.0 %), mean reward 1.0000, 1 could not be judged, 3 bad");
    assertThat(Files.readAllLines(output()))
        .hasSize(3)
        .satisfiesExactly(
            a -> assertThat(a).contains("\"id\":\"a\"", "\"outcome\":\"scored\""),
            c -> assertThat(c).contains("\"id\":\"c\"", "\"outcome\":\"bad_input\""),
            d -> assertThat(d).contains("\"id\":\"d\"", "\"passed\":true"));
  }

  @Test
  void verify_mathInItsOwnProcess_readsBoxes() throws IOException {
    Path input =
        Files.writeString(
            folder.resolve("in.jsonl"),
            "{\"id\": \"a\", \"completion\": \"\\\\boxed{\\\\frac12}\", \"answer\": \"0.5\"}\n");

    Ended ended = run("verify", "math", "--input", input.toString(), "--output", "" + output());

    assertThat(ended.err()).endsWith("1 scored, 1 passed (100.0 %), mean reward 1.0000\n");
    assertThat(Files.readString(output()))
        .contains("\"reason\":\"equal as rationals: 1/2\",\"extracted\":\"\\\\frac12\"");
  }

  /** Measures, where a run rewards: its mode is another one unless it is told. */
  @Test
  void verify_mathWithoutMode_readsTheLastAnchor() throws IOException {
    Path input =
        Files.write(
            folder.resolve("in.jsonl"),
            List.of(
                "{\"id\": 1, \"completion\": \"The final answer is $40$.\", \"answer\": \"40\"}",
                "{\"id\": 2, \"completion\": \"\\\\boxed{3}. No: \\\\boxed{11}.\", \"answer\":"
                    + " \"11\"}",
                "{\"id\": 3, \"completion\": \"\\\\boxed{3}. No, the answer is 11.\", \"answer\":"
                    + " \"11\"}"));

    Ended measured = run("verify", "math", "--input", input.toString(), "--output", "" + output());
    assertThat(measured.err()).endsWith("3 scored, 3 passed (100.0 %), mean reward 1.0000\n");
    Ended rewarded =
        run(
            "verify",
            "math",
            "--set",
            "mode=training",
            "--input",
            input.toString(),
            "--output",
            "" + output());
    assertThat(rewarded.err()).endsWith("3 scored, 2 passed (66.7 %), mean reward 0.6667\n");
  }

  @Test
  void verify_optionThatThereIsNot_isRefused() {
    assertThat(
            run("verify", "math", "--set", "mood=good", "--input", "pom.xml", "--output", "-")
                .err())
        .contains("verifier math has no option 'mood'; it takes anchors, mode");
  }

  @Test
  void verify_rolloutsOfARun_areJudgedOneByOneUpToTheirStop() throws IOException {
    Path traces = Files.createDirectories(folder.resolve("run/traces"));
    Files.writeString(traces.resolve("samples.jsonl"), "{}\n");
    Files.write(
        traces.resolve("rollouts.jsonl"),
        List.of(
            rollout(8, "The answer is 4.", "The answer is 5. Q: 4", "4"), "{\"group\": 9, \"fe"));
    Files.write(traces.resolve("rollouts.000001.jsonl"), List.of(rollout(7, "The answer is 4.")));

    Ended ended =
        run(
            "verify",
            "gsm8k",
            "--set",
            "mode=flexible",
            "--stop",
            " Q:",
            "--stop",
            "Never",
            "--completions",
            "--input",
            folder.resolve("run").toString(),
            "--output",
            "" + output());

    assertThat(ended.code()).isEqualTo(ExitCode.INCOMPLETE.code());
    assertThat(ended.err())
        .contains("rollouts.jsonl line 2 is not JSON")
        .endsWith("4 scored, 3 passed (75.0 %), mean reward 0.7500, 1 bad lines\n");
    assertThat(Files.readAllLines(output()))
        .satisfiesExactly(
            first ->
                assertThat(first)
                    .startsWith(
                        "{\"id\":\"p\",\"group\":7,\"fence\":3,\"index\":0,"
                            + "\"completion\":\"The answer is 4.\",\"reward\":1.0,"),
            second -> assertThat(second).contains("\"group\":8", "\"index\":0", "\"reward\":1.0"),
            cut ->
                assertThat(cut)
                    .contains(
                        "\"index\":1,\"completion\":\"The answer is 5.\",\"reward\":0.0",
                        "\"extracted\":\"5.\""),
            last -> assertThat(last).contains("\"index\":2", "\"reward\":1.0"));
  }

  private static String rollout(int group, String... completions) {
    return "{\"ts\":1.0,\"prompt_id\":\"p\",\"group\":%d,\"fence\":3,\"prompt\":\"2+2?\",\"answer\":\"4\",\"completions\":[\"%s\"],\"rewards\":[],\"verdicts\":[]}"
        .formatted(group, String.join("\",\"", completions));
  }

  @Test
  @ResourceLock(Resources.SYSTEM_OUT)
  void verify_outputNobodyReads_endsAsAFileThatCannotBeWritten() throws IOException {
    Path input =
        Files.writeString(
            folder.resolve("in.jsonl"), "{\"id\": 1, \"completion\": \"4\", \"answer\": \"4\"}\n");
    PrintStream before = System.out;
    OutputStream closed =
        new OutputStream() {
          @Override
          public void write(int b) throws IOException {
            throw new IOException("Broken pipe");
          }
        };
    System.setOut(new PrintStream(closed, false, UTF_8));
    try {
      Ended ended = run("verify", "gsm8k", "--input", input.toString(), "--output", "-");
      assertThat(ended.code()).isEqualTo(ExitCode.FAILED.code());
      assertThat(ended.err()).contains("the standard output cannot be written to");
    } finally {
      System.setOut(before);
    }
  }

  @Test
  void verify_lineThatIsNoUtf8_isABadLine() throws IOException {
    Path input = folder.resolve("in.jsonl");
    Files.write(input, new byte[] {'{', '"', (byte) 0xff, '"', ':', '1', '}', '\n'});

    Ended ended = run("verify", "gsm8k", "--input", input.toString(), "--output", "" + output());

    assertThat(ended.code()).isEqualTo(ExitCode.INCOMPLETE.code());
    assertThat(ended.err()).contains("in.jsonl line 1 is not ");
  }

  @Test
  void verify_badUsage_startsNothing() throws IOException {
    assertThat(run("verify", "gsm8k").err()).contains("give VERIFIER, --input FILE");
    assertThat(verify("gsm9k", "{}").err()).contains("there is no verifier 'gsm9k'; there are ");
    assertThat(run("verify", "gsm8k", "--input", "none.jsonl", "--output", "-").err())
        .contains("none.jsonl does not exist");
    assertThat(output()).doesNotExist();
  }
}
