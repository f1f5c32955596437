package io.troupe.environments.box;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.troupe.core.prompt.Prompt;
import io.troupe.core.prompt.PromptId;
import io.troupe.core.rollout.ToolRun;
import io.troupe.environments.Environment;
import io.troupe.environments.EnvironmentPool;
import io.troupe.environments.ToolCall;
import io.troupe.environments.ToolResult;
import io.troupe.environments.ToolSchema;
import io.troupe.testkit.Await;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.EnumSet;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;

@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class BoxEnvironmentTest {
  private static final String SECRET = "the-answer-is-4711";
  private static final Prompt PROMPT = new Prompt(new PromptId("p"), "s", "2*3=", SECRET, SECRET);

  private EnvironmentPool pool;

  @BeforeAll
  void open() {
    pool =
        new BoxProvider(
                BoxSettings.standard().withTimeout(Duration.ofSeconds(3)),
                EnumSet.allOf(BoxTool.class))
            .open();
  }

  @AfterAll
  void close() {
    pool.close();
  }

  private Environment box() {
    Environment box = pool.newEnvironment();
    box.reset(PROMPT, 1);
    return box;
  }

  private static ToolResult call(Environment box, String tool, String... arguments) {
    ObjectNode object = JsonNodeFactory.instance.objectNode();
    for (int i = 0; i < arguments.length; i += 2) {
      object.put(arguments[i], arguments[i + 1]);
    }
    return box.step(new ToolCall(tool, object.toString(), ToolCall.Status.OK));
  }

  private static ToolResult python(Environment box, String code) {
    return call(box, "python", "code", code);
  }

  private static ToolResult shell(Environment box, String command) {
    return call(box, "shell", "command", command);
  }

  @Test
  void tools_ofAllKinds_haveNamesAndSchemas() {
    assertThat(
            new BoxProvider(BoxSettings.standard(), EnumSet.allOf(BoxTool.class))
                .tools().stream().map(ToolSchema::name))
        .containsExactly("python", "shell", "read_file", "write_file", "list_files");
    assertThat(BoxTool.PYTHON.schemas().getFirst().parameters())
        .isEqualTo(
            "{\"type\":\"object\",\"properties\":{\"code\":{\"type\":\"string\"}},\"required\":[\"code\"]}");
  }

  @Test
  void step_python_keepsVariablesAndShowsTheLastValue() {
    try (Environment box = box()) {
      assertThat(python(box, "x = 6\ndef f(y): return x * y")).isEqualTo(ToolResult.of(""));
      assertThat(python(box, "print('a')\nf(7)")).isEqualTo(ToolResult.of("a\n42"));
      ToolResult wrong = python(box, "y = 1\n1 / 0");
      assertThat(wrong.exit()).isEqualTo(1);
      assertThat(wrong.text())
          .startsWith("Traceback")
          .contains("<cell 3>")
          .endsWith("ZeroDivisionError: division by zero")
          .doesNotContain("box.py");
      assertThat(python(box, "x + y").text()).isEqualTo("7");
      assertThat(python(box, "x +").text()).contains("SyntaxError");
    }
  }

  @Test
  void step_shell_keepsFolderAndVariablesAndSharesFilesWithTheOthers() {
    try (Environment box = box()) {
      assertThat(shell(box, "mkdir d; cd d; A=5; false").exit()).isEqualTo(1);
      assertThat(shell(box, "echo $A > n; pwd").text()).isEqualTo("/tmp/d");
      assertThat(python(box, "open('d/n').read()").text()).isEqualTo("'5\\n'");
      assertThat(call(box, "write_file", "path", "e/t", "text", "a\nb\n").text())
          .isEqualTo("wrote 4 bytes");
      assertThat(shell(box, "cat /tmp/e/t").text()).isEqualTo("a\nb");
      assertThat(call(box, "read_file", "path", "e/t").text()).isEqualTo("a\nb");
      assertThat(call(box, "list_files").text()).isEqualTo("d/n\ne/t");
      ToolResult missing = call(box, "read_file", "path", "no");
      assertThat(missing.exit()).isEqualTo(1);
      assertThat(missing.text()).startsWith("FileNotFoundError");
    }
  }

  @Test
  void step_longOutput_isCutAndCounted() {
    try (Environment box = box()) {
      assertThat(python(box, "print('x' * 10000)").text())
          .isEqualTo("x".repeat(8192) + "\n[1809 more bytes are not shown]");
      assertThat(shell(box, "echo next").text()).isEqualTo("next");
    }
  }

  @Test
  void step_codeThatTakesTooLong_isInterruptedAndKeepsWhatItHad() {
    try (EnvironmentPool quick = quick();
        Environment box = quick.newEnvironment()) {
      box.reset(PROMPT, 1);
      python(box, "x = 3");
      ToolResult late = python(box, "while True: pass");
      assertThat(late.outcome()).isEqualTo(ToolRun.Outcome.KILLED);
      assertThat(late.text()).endsWith("KeyboardInterrupt\n[interrupted after 0.3 s]");
      assertThat(python(box, "x").text()).isEqualTo("3");
      assertThat(shell(box, "sleep 600").text())
          .isEqualTo("[ended after 0.3 s, and what it kept is gone]");
      assertThat(shell(box, "echo again").text()).isEqualTo("again");
    }
  }

  private static EnvironmentPool quick() {
    return new BoxProvider(
            BoxSettings.standard().withTimeout(Duration.ofMillis(300)),
            EnumSet.of(BoxTool.PYTHON, BoxTool.SHELL))
        .open();
  }

  /** The tricks with the clock: none that the code sees bounds it. */
  @Test
  void step_codeThatFakesTheClockAndIgnoresSignals_isEnded() {
    try (EnvironmentPool quick = quick();
        Environment box = quick.newEnvironment()) {
      box.reset(PROMPT, 1);
      ToolResult late =
          python(
              box,
              """
              import signal, time
              signal.signal(signal.SIGINT, signal.SIG_IGN)
              time.monotonic = time.time = lambda: 0.0
              while True: pass
              """);
      assertThat(late.outcome()).isEqualTo(ToolRun.Outcome.KILLED);
      assertThat(late.text()).isEqualTo("[ended after 0.3 s, and what it kept is gone]");
      assertThat(python(box, "6 * 7").text()).isEqualTo("42");
    }
  }

  @Test
  void step_codeThatEndsItsSession_isTold() {
    try (Environment box = box()) {
      shell(box, "echo kept > f");
      assertThat(python(box, "import os; os._exit(3)"))
          .isEqualTo(
              new ToolResult(
                  "[the session ended with exit code 3, and what it kept is gone]",
                  3,
                  ToolRun.Outcome.RAN,
                  false));
      assertThat(python(box, "exit(4)").exit()).isEqualTo(4);
      assertThat(shell(box, "exit 5").text()).contains("exit code 5");
      assertThat(shell(box, "cat f").text()).isEqualTo("kept");
      assertThat(shell(box, "kill -9 $$").exit()).isEqualTo(-9);
    }
  }

  /** A policy that breaks its box has a result for it, never another try. */
  @Test
  void step_codeThatBreaksItsBox_isAResult() {
    for (String code :
        List.of(
            "import os\nwhile True: os.fork()",
            "a = []\nwhile True: a.append(bytearray(1 << 24))",
            "open('big', 'wb').write(bytes(1 << 27))",
            "import os, signal\nos.kill(1, signal.SIGKILL)\nos.kill(-1, signal.SIGKILL)")) {
      try (Environment box = box()) {
        ToolResult broken = python(box, code);
        assertThat(broken.done()).isFalse();
        assertThat(broken.exit()).as(code).isNotZero();
        // Forks that outlived their call write into the output of the next one, before or after its
        // answer.
        assertThat(python(box, "6 * 7").text().lines()).as(code).contains("42");
      }
    }
  }

  /** Between calls nothing runs: what a call leaves behind computes in no time but its own. */
  @Test
  void step_processLeftBehind_isStoppedBetweenCalls() {
    try (Environment box = box()) {
      shell(box, "(setsid sh -c 'while :; do echo t >> ticks; done') >/dev/null 2>&1 &");
      Await.until(() -> ticks(box) > 0); // Each look is a call, in which it goes on.
      List<ProcessHandle> left = processes("echo t >> ticks");
      assertThat(left).isNotEmpty();
      Await.until(() -> left.stream().allMatch(BoxEnvironmentTest::isStopped));
    }
    Await.until(() -> processes("echo t >> ticks").isEmpty());
  }

  private static List<ProcessHandle> processes(String command) {
    return ProcessHandle.allProcesses()
        .filter(each -> each.info().commandLine().orElse("").contains(command))
        .toList();
  }

  private static int ticks(Environment box) {
    return Integer.parseInt(shell(box, "touch ticks; wc -l < ticks").text().strip());
  }

  private static boolean isStopped(ProcessHandle process) {
    try {
      String stat = Files.readString(Path.of("/proc/" + process.pid() + "/stat"));
      return stat.startsWith("T", stat.lastIndexOf(')') + 2);
    } catch (IOException gone) {
      return true;
    }
  }

  @Test
  void step_codeThatLooksForTheAnswer_findsNothing() {
    try (Environment box = box()) {
      String search =
          """
          import gc, os, sys
          found = [repr(sys.argv), repr(dict(os.environ))]
          frame = sys._getframe()
          while frame:
              found.append(repr(frame.f_locals)); found.append(repr(frame.f_globals)); frame = frame.f_back
          for item in gc.get_objects():
              try: found.append(repr(item)[:10000])
              except BaseException: pass
          print(any("4711" in text for text in found[:-1]), os.path.exists("/proc/self"), os.path.exists("/etc/passwd"))
          """;
      // The search's own text holds the number, so it is looked for by its whole form elsewhere.
      assertThat(python(box, search.replace("\"4711\"", "\"-is-\" + \"47\" + \"11\"")).text())
          .isEqualTo("False False False");
      assertThat(shell(box, "cat /etc/shadow; ls /home /root; env").text())
          .doesNotContain("4711", "root:");
      assertThat(
              python(
                      box,
                      """
                      import socket
                      try: socket.create_connection(('1.1.1.1', 53), 1)
                      except OSError as e: print('no net')
                      """)
                  .text())
          .isEqualTo("no net");
    }
  }

  /** The bytes that code writes to inherited descriptors are its own result at most. */
  @Test
  void step_codeThatForgesResults_speaksForItselfOnly() {
    try (Environment box = box()) {
      ToolResult forged =
          python(
              box,
              """
              import os
              for descriptor in range(3, 64):
                  for text in (b'1 0\\n', b'{"text": "42", "exit": 0}', b'\\x00\\x00\\x00\\x02{}'):
                      try: os.write(descriptor, text)
                      except OSError: pass
              raise ValueError("wrong")
              """);
      assertThat(forged.done()).isFalse();
      assertThat(forged.outcome()).isEqualTo(ToolRun.Outcome.RAN);
      assertThat(shell(box, "echo true").text()).isEqualTo("true");
    }
  }

  @Test
  void close_daemonsOfTheEpisode_endWithIt() {
    Environment box = box();
    python(
        box,
        """
        import os
        read, write = os.pipe()
        if os.fork() == 0:
            os.setsid()
            if os.fork() == 0:
                os.execv('/usr/bin/sleep', ['sleep', '98765.25'])
            os._exit(0)
        os.close(write)
        os.read(read, 1)  # ends when the other end does, with the exec
        """);
    assertThat(processes("sleep 98765.25")).hasSize(1);
    box.close();
    Await.until(() -> processes("sleep 98765.25").isEmpty());
  }
}
