package io.troupe.verifiers;

import io.troupe.verifiers.FormatVerifier.Shape;
import io.troupe.verifiers.Gsm8kVerifier.Mode;
import io.troupe.verifiers.code.CodeProfile;
import io.troupe.verifiers.code.CodeVerifiers;
import io.troupe.verifiers.instructions.Family;
import io.troupe.verifiers.instructions.InstructionVerifier;
import io.troupe.verifiers.judge.JudgeSettings;
import io.troupe.verifiers.judge.LlmJudge;
import io.troupe.verifiers.judge.Rubric;
import io.troupe.verifiers.math.Anchor;
import io.troupe.verifiers.math.MathVerifier;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/** The verifiers that come with Troupe. */
final class BuiltInVerifiers {
  private static final Set<String> CODE = Set.of("mbpp", "humaneval", "apps");

  /** What {@link VerifierProvider#create} does. */
  private interface Factory {
    Verifier create(VerifierOptions options) throws IOException;
  }

  private record Entry(String name, String summary, Isolation isolation, Factory factory)
      implements VerifierProvider {
    @Override
    public Isolation isolation(Map<String, String> options) {
      return isolation;
    }

    @Override
    public boolean runsCode() {
      return CODE.contains(name);
    }

    @Override
    public Verifier create(VerifierOptions options) throws IOException {
      Verifier verifier = factory.create(options);
      options.refuseOthers(name);
      return verifier;
    }
  }

  /** Reads by hand in one pass, or as the math verifier does. */
  private record Gsm8k() implements VerifierProvider {
    @Override
    public String name() {
      return "gsm8k";
    }

    @Override
    public String summary() {
      return "the final number of a worked solution";
    }

    @Override
    public Isolation isolation(Map<String, String> options) {
      return mode(new VerifierOptions(options, 1)) == Mode.ANCHORS
          ? Isolation.PROCESS
          : Isolation.LINEAR;
    }

    private static Mode mode(VerifierOptions options) {
      return options.choice("mode", Mode.ANCHORS);
    }

    @Override
    public Verifier create(VerifierOptions options) {
      Verifier verifier =
          new Gsm8kVerifier(mode(options), options.number("format_reward", 0, 0, 0.999));
      options.refuseOthers(name());
      return verifier;
    }
  }

  /** Reads strictly, but where completions are measured. */
  private record MathAnswers() implements VerifierProvider {
    private static final String MODE = "mode";
    private static final String ANCHORS = "anchors";

    @Override
    public String name() {
      return "math";
    }

    @Override
    public String summary() {
      return "a mathematical answer, in LaTeX or plain, equal to the expected one";
    }

    @Override
    public Verifier create(VerifierOptions options) {
      MathVerifier verifier = options.choice(MODE, MathVerifier.Reading.TRAINING).verifier();
      List<String> anchors = options.words(ANCHORS, List.of());
      options.refuseOthers(name());
      return anchors.isEmpty()
          ? verifier
          : new MathVerifier(anchors.stream().map(Anchor::named).toList(), verifier.mode());
    }

    @Override
    public Map<String, String> forEvaluation(Map<String, String> options) {
      if (options.containsKey(MODE) || options.containsKey(ANCHORS)) {
        return options;
      }
      Map<String, String> measuring = new LinkedHashMap<>(options);
      measuring.put(MODE, "evaluation");
      return measuring;
    }
  }

  private BuiltInVerifiers() {}

  static List<VerifierProvider> all() {
    return List.of(
        new Entry(
            "numeric",
            "one number and nothing else, equal to the answer",
            Isolation.LINEAR,
            options ->
                new NumericVerifier(
                    options.flag("padded", false), options.flag("reversed", false))),
        new Gsm8k(),
        new MathAnswers(),
        new Entry(
            "format",
            "the shape of a completion, whatever it says: for mixed rewards",
            Isolation.LINEAR,
            options -> new FormatVerifier(options.choice("shape", Shape.THINK_ANSWER))),
        instructions(Family.IFEVAL, "all of IFEval's instructions in the prompt, strictly"),
        instructions(Family.IFBENCH, "all of IFBench's instructions in the prompt, strictly"),
        instructions(Family.IF_MULTI, "the share of a prompt's instructions that is followed"),
        instructions(Family.RLVR_IFEVAL, "the one instruction of a prompt of RLVR-IFeval"),
        new Entry(
            "judge",
            "the score that a language model gives, over an OpenAI-compatible endpoint",
            Isolation.SELF,
            options -> new LlmJudge(judge(options))),
        new Entry(
            "mbpp",
            "a Python program in a sandbox, against asserts",
            Isolation.SELF,
            options -> CodeVerifiers.create("mbpp", CodeProfile.mbpp(), options)),
        new Entry(
            "humaneval",
            "the rest of a Python function in a sandbox, against a check function",
            Isolation.SELF,
            options -> CodeVerifiers.create("humaneval", CodeProfile.humanEval(), options)),
        new Entry(
            "apps",
            "a Python program in a sandbox, against its output or results; partial credit",
            Isolation.SELF,
            options -> CodeVerifiers.create("apps", CodeProfile.apps(), options)));
  }

  private static Entry instructions(Family family, String summary) {
    return new Entry(
        family.word(), summary, Isolation.PROCESS, options -> new InstructionVerifier(family));
  }

  private static JudgeSettings judge(VerifierOptions options) throws IOException {
    String endpoint =
        options
            .text("endpoint")
            .orElseThrow(
                () ->
                    new IllegalArgumentException(
                        "verifier judge needs the option endpoint, such as"
                            + " http://127.0.0.1:8000/v1"));
    String model =
        options
            .text("model")
            .orElseThrow(
                () -> new IllegalArgumentException("verifier judge needs the option model"));
    Optional<String> rubric = options.text("rubric");
    return new JudgeSettings(
        URI.create(endpoint),
        model,
        apiKey(options.text("api_key_env"), options.text("api_key_file")),
        rubric.isEmpty() ? Rubric.CORRECTNESS : new Rubric(Files.readString(Path.of(rubric.get()))),
        options.integer("max_tokens", 16, 1),
        options.integer("attempts", 4, 1),
        options.duration("timeout", Duration.ofSeconds(60)));
  }

  /** Keys come from the environment or a file: options end up in run folders and process lists. */
  private static Optional<String> apiKey(Optional<String> variable, Optional<String> file)
      throws IOException {
    if (variable.isPresent()) {
      String key = System.getenv(variable.get());
      if (key == null || key.isBlank()) {
        throw new IllegalArgumentException(
            "option api_key_env names %s, which is not set".formatted(variable.get()));
      }
      return Optional.of(key.strip());
    }
    return file.isEmpty()
        ? Optional.empty()
        : Optional.of(Files.readString(Path.of(file.get())).strip());
  }
}
