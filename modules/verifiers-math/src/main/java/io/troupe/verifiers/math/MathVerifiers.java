package io.troupe.verifiers.math;

import io.troupe.core.reward.JudgedBy;
import io.troupe.verifiers.GoldReading;
import io.troupe.verifiers.Gsm8kMode;
import io.troupe.verifiers.Isolation;
import io.troupe.verifiers.ThoughtReading;
import io.troupe.verifiers.Verifier;
import io.troupe.verifiers.VerifierFamily;
import io.troupe.verifiers.VerifierOptions;
import io.troupe.verifiers.VerifierProvider;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** The verifiers of mathematical answers. */
public final class MathVerifiers implements VerifierFamily {
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
    public JudgedBy judgedBy() {
      return new JudgedBy.OneAnswer();
    }

    @Override
    public Isolation isolation(Map<String, String> options) {
      return mode(new VerifierOptions(options, 1)) == Gsm8kMode.ANCHORS
          ? Isolation.PROCESS
          : Isolation.LINEAR;
    }

    @Override
    public boolean readsRow() {
      return false;
    }

    @Override
    public ThoughtReading thoughts() {
      return ThoughtReading.DROP;
    }

    private static Gsm8kMode mode(VerifierOptions options) {
      return options.choice("mode", Gsm8kMode.ANCHORS);
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
    public JudgedBy judgedBy() {
      return new JudgedBy.OneAnswer();
    }

    @Override
    public boolean readsRow() {
      return false;
    }

    @Override
    public ThoughtReading thoughts() {
      return ThoughtReading.DROP;
    }

    @Override
    public Verifier create(VerifierOptions options) {
      MathVerifier verifier = options.choice(MODE, MathVerifier.Reading.TRAINING).verifier();
      List<String> anchors = options.words(ANCHORS, List.of());
      options.refuseOthers(name());
      return anchors.isEmpty()
          ? verifier
          : new MathVerifier(anchors.stream().map(AnswerAnchor::named).toList(), verifier.mode());
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

    @Override
    public Optional<GoldReading> goldReading(String answer) {
      return Optional.of(MathVerifier.readingOf(answer));
    }
  }

  @Override
  public List<VerifierProvider> providers() {
    return List.of(new Gsm8k(), new MathAnswers());
  }
}
