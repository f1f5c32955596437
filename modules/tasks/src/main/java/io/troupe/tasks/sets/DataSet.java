package io.troupe.tasks.sets;

import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Optional;

/** The published data sets that a configuration can name. */
@SuppressWarnings("ImmutableEnumChecker") // records of texts, and factories without state
public enum DataSet {
  GSM8K(
      new About(
          "Grade-school word problems with an integer as answer",
          "gsm8k",
          "7,473 train, 1,319 test",
          "MIT"),
      new Home("openai/gsm8k", "main/"),
      new Answers(512, "[Question]", "Question:", "Q:", "\n\n\n", "\n\n"),
      Gsm8kRows::new),
  MATH(
      new About(
          "Competition mathematics: seven subjects, levels 1 to 5, LaTeX answers",
          "math",
          "7,500 train, 5,000 test; MATH-500 is 500 of the test problems",
          "MIT"),
      new Home("EleutherAI/hendrycks_math", "*"),
      new Answers(1024, "Problem:", "\n\n\n"),
      MathRows::new),
  DEEPSCALER(
      new About(
          "Competition mathematics for reinforcement learning, from AIME, AMC, Omni-MATH and STILL",
          "math",
          "40,315 train",
          "MIT"),
      new Home("agentica-org/DeepScaleR-Preview-Dataset", ""),
      new Answers(1024, "Problem:", "\n\n\n"),
      AnswerRows::new),
  AIME(
      new About(
          "American Invitational Mathematics Examination, 2022 to 2024; for evaluation",
          "math",
          "90 train",
          "Apache-2.0"),
      new Home("AI-MO/aimo-validation-aime", ""),
      new Answers(1024, "Problem:", "\n\n\n"),
      AnswerRows::new),
  BEYONDAIME(
      new About(
          "Problems harder than AIME's with an integer as answer; for evaluation",
          "math",
          "100 test",
          "CC0-1.0"),
      new Home("ByteDance-Seed/BeyondAIME", ""),
      new Answers(1024, "Problem:", "\n\n\n"),
      AnswerRows::new),
  MBPP(
      new About(
          "Short Python functions judged by asserts",
          "mbpp",
          "374 train, 90 validation, 500 test, 10 prompt; 427 of them hand-checked",
          "CC-BY-4.0"),
      new Home("google-research-datasets/mbpp", "full/"),
      new Answers(512, "[DONE]", "\n\n\n"),
      _ -> new MbppRows()),
  HUMANEVAL(
      new About(
          "Python functions below signature and docstring; for evaluation",
          "humaneval",
          "164 test",
          "MIT"),
      new Home("openai/openai_humaneval", "openai_humaneval/"),
      new Answers(512, "\nclass", "\ndef", "\n#", "\nif", "\nprint"),
      _ -> new HumanEvalRows()),
  APPS(
      new About(
          "Contest and interview problems, judged over standard input or by calls",
          "apps",
          "5,000 train, 5,000 test",
          "MIT"),
      new Home("codeparrot/apps", ""),
      new Answers(512, "\n\n\n"),
      _ -> new AppsRows()),
  IFEVAL(
      new About(
          "Prompts with 25 kinds of instructions a program can check; for evaluation",
          "ifeval",
          "541 train (the hub's only split)",
          "Apache-2.0"),
      new Home("google/IFEval", ""),
      new Answers(2048),
      InstructionRows::new),
  RLVR_IFEVAL(
      new About(
          "Training prompts with one checkable instruction each",
          "rlvr-ifeval",
          "14,973 train",
          "ODC-BY-1.0"),
      new Home("allenai/RLVR-IFeval", ""),
      new Answers(2048),
      ChatRows::new),
  IF_MULTI(
      new About(
          "Training prompts with one to five checkable instructions",
          "if-multi",
          "about 40,400 train",
          "ODC-BY-1.0"),
      new Home("allenai/IF_multi_constraints_upto5", ""),
      new Answers(2048),
      ChatRows::new),
  IFBENCH(
      new About(
          "Prompts with 58 kinds of unusual instructions; for evaluation",
          "ifbench",
          "300 train (the hub's only split)",
          "ODC-BY-1.0"),
      new Home("allenai/IFBench_test", ""),
      new Answers(2048),
      InstructionRows::new);

  /**
   * The description of a data set.
   *
   * @param what in half a sentence
   * @param verifier that judges its answers
   * @param sizes of its splits
   * @param licence as its publisher states it
   */
  public record About(String what, String verifier, String sizes, String licence) {}

  /**
   * The place of a data set on the Hugging Face hub.
   *
   * @param repository owner and name
   * @param folder its configuration, or the folder that its file names start with; empty means the
   *     usual one, an asterisk all
   */
  public record Home(String repository, String folder) {}

  /**
   * The limits of an answer in the published evaluations.
   *
   * @param maxTokens of a completion
   * @param stop texts that end a completion of a base model, which would otherwise invent the next
   *     question
   */
  public record Answers(int maxTokens, List<String> stop) {
    Answers(int maxTokens, String... stop) {
      this(maxTokens, List.of(stop));
    }
  }

  private final About about;
  private final Home home;
  private final Answers answers;
  private final RowFormat.Factory format;

  DataSet(About about, Home home, Answers answers, RowFormat.Factory format) {
    this.about = about;
    this.home = home;
    this.answers = answers;
    this.format = format;
  }

  /** Returns the data set of a name in a configuration. */
  public static Optional<DataSet> named(String key) {
    return Arrays.stream(values()).filter(each -> each.key().equals(key)).findFirst();
  }

  /** Returns the name of the data set in a configuration. */
  public String key() {
    return name().toLowerCase(Locale.ROOT);
  }

  public About about() {
    return about;
  }

  public Home home() {
    return home;
  }

  public Answers answers() {
    return answers;
  }

  /** Returns the format of its rows. */
  public RowFormat.Factory format() {
    return format;
  }

  /**
   * Returns the prefix of ids made of row numbers. The training set keeps the prefix ifeval,
   * because its curricula use it; the ids of the benchmark contain its keys.
   */
  public String idPrefix() {
    return switch (this) {
      case IFEVAL -> "ifeval_test_";
      case RLVR_IFEVAL -> "ifeval_";
      default -> key() + "_";
    };
  }
}
