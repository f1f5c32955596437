package io.troupe.verifiers.pool;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.troupe.core.prompt.Prompt;
import io.troupe.core.prompt.PromptId;
import io.troupe.core.reward.Verdict;
import io.troupe.verifiers.JudgedText;
import io.troupe.verifiers.Verifier;
import io.troupe.verifiers.VerifierSpec;
import io.troupe.verifiers.Verifiers;
import java.io.BufferedReader;
import java.io.FileDescriptor;
import java.io.FileInputStream;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;

/**
 * The main program of a verifier's process: answers questions on standard input until its end.
 *
 * <p>The end of standard input means that the parent process has died. A thread that only reads
 * notices it, so that the process ends even during a verification that would never return.
 */
public final class VerifierMain {
  private static final int OUT_OF_ORDER = 70;

  /** The stack of a verification: verifiers may recurse into a completion, with bounded depth. */
  private static final long STACK_BYTES = 16L << 20;

  private VerifierMain() {}

  /**
   * Runs the program.
   *
   * @param arguments the verifier's name, then its options as {@code key=value}
   */
  public static void main(String[] arguments) throws IOException {
    PrintStream answers = new PrintStream(new FileOutputStream(FileDescriptor.out), false, UTF_8);
    System.setOut(System.err); // output that a verifier prints is no answer
    Verifier verifier = Verifiers.create(spec(arguments), 1);
    verifier.prepare();
    BlockingQueue<String> questions = new LinkedBlockingQueue<>();
    Thread.ofPlatform()
        .name("verifier")
        .daemon()
        .stackSize(STACK_BYTES)
        .start(() -> answerAll(verifier, questions, answers));
    prepare();
    answers.println(VerifierProtocol.ready());
    answers.flush();
    try (BufferedReader in =
        new BufferedReader(new InputStreamReader(new FileInputStream(FileDescriptor.in), UTF_8))) {
      for (String line = in.readLine(); line != null; line = in.readLine()) {
        questions.add(line);
      }
    }
    Runtime.getRuntime().halt(0);
  }

  /** Loads classes before the first question, so that its deadline covers its verification only. */
  private static void prepare() {
    Prompt prompt = new Prompt(new PromptId("rehearsal"), "", "", "", "");
    VerifierProtocol.Question question =
        VerifierProtocol.question(
            VerifierProtocol.write(new VerifierProtocol.Question(0, prompt, JudgedText.of(""))));
    String _ =
        VerifierProtocol.write(
            new VerifierProtocol.Answer(question.seq(), new Verdict.Scored(0, "", "", List.of())));
  }

  private static VerifierSpec spec(String[] arguments) {
    Map<String, String> options = new LinkedHashMap<>();
    for (int i = 1; i < arguments.length; i++) {
      int equals = arguments[i].indexOf('=');
      options.put(arguments[i].substring(0, equals), arguments[i].substring(equals + 1));
    }
    return new VerifierSpec(arguments[0], options, List.of()); // plug-ins are on the class path
  }

  /** The arguments that pass a specification to {@link #main}. */
  static List<String> arguments(VerifierSpec spec) {
    List<String> arguments = new ArrayList<>(List.of(spec.name()));
    spec.options().forEach((key, value) -> arguments.add(key + "=" + value));
    return arguments;
  }

  private static void answerAll(
      Verifier verifier, BlockingQueue<String> questions, PrintStream answers) {
    try {
      while (true) {
        VerifierProtocol.Question question = VerifierProtocol.question(questions.take());
        answers.println(
            VerifierProtocol.write(
                new VerifierProtocol.Answer(question.seq(), judge(verifier, question))));
        answers.flush();
      }
    } catch (InterruptedException | IllegalArgumentException e) {
      e.printStackTrace();
      Runtime.getRuntime().halt(OUT_OF_ORDER);
    }
  }

  private static Verdict judge(Verifier verifier, VerifierProtocol.Question question) {
    try {
      return verifier.verify(question.prompt(), question.completion());
    } catch (RuntimeException | Error defect) {
      return new Verdict.Unverifiable(Verdict.Cause.CRASH, "the verifier failed: " + defect);
    }
  }
}
