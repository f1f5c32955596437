package io.troupe.config.task;

import io.troupe.config.binding.RuleChecker;
import io.troupe.config.binding.Validated;
import io.troupe.config.schema.Default;
import io.troupe.config.schema.Doc;
import io.troupe.config.schema.Inline;
import io.troupe.config.schema.Range;
import io.troupe.config.schema.RelativeToFile;
import io.troupe.config.schema.Variant;
import io.troupe.tasks.ArithmeticSettings;
import io.troupe.tasks.ArithmeticSettings.Operation;
import io.troupe.verifiers.Gsm8kMode;
import java.nio.file.Path;
import java.util.List;

/** One data set: a task by itself, or a part of a mixture. */
@Variant(key = "name", meaning = "Which data set.")
public sealed interface DataSetSection extends TaskSection {
  /** Returns the wording of its prompts. */
  PromptKeys prompts();

  /** Returns the name and the order of the data set among others. */
  MixKeys mix();

  @Override
  default ChoiceKeys choice() {
    return mix().choice();
  }

  /** The name its prompts bear. */
  default String source() {
    return mix().alias().isEmpty() ? name() : mix().alias();
  }

  /** The notation of the numbers of a calculation. */
  enum Format {
    /** {@code 7+45=} is answered {@code 52}. */
    PLAIN,
    /** Leading zeros up to the width of the greatest number: {@code 07+45=}, {@code 052}. */
    PADDED,
    /**
     * The answer's digits are in order of significance, the least first: {@code 7+45=}, {@code 25}.
     */
    REVERSED,
    /** Both: {@code 07+45=}, {@code 250}. */
    PADDED_REVERSED
  }

  /** A data set of files. */
  sealed interface OfFiles extends DataSetSection {
    /** Returns where the rows come from. */
    DataKeys data();

    @Override
    default boolean holdsOut() {
      return data().holdsOut();
    }
  }

  /** The difficulty of a problem of APPS. */
  enum Difficulty {
    INTRODUCTORY,
    INTERVIEW,
    COMPETITION
  }

  /** Every pair of numbers of a range. */
  @Doc("Calculations: every pair of numbers between `min` and `max`.")
  record Arithmetic(
      @Doc("Share of the pairs kept for evaluation, never trained on.")
          @Default("0.2")
          @Range(min = 0, max = 1, maxExclusive = true)
          double heldOutShare,
      @Doc("Which calculation.") @Default("addition") Operation operation,
      @Doc("Smallest operand.") @Default("0") @Range(min = 0, max = 9999) int min,
      @Doc("Largest operand.") @Default("99") @Range(min = 0, max = 9999) int max,
      @Doc(
              "How numbers are written: `plain` asks `7+45=` and wants `52`; `padded` asks `07+45=`"
                  + " and wants `052`; `reversed` wants `25`, the least significant digit first.")
          @Default("plain")
          Format format,
      @Doc(
              "Whether a third number of the same range is added to the result: `37*45+12=`. It is"
                  + " drawn once for each pair.")
          @Default("false")
          boolean addend,
      @Doc(
              "Share of the solutions, which the warm-up imitates, that call tools in the format"
                  + " `inline`: `calc` of the environment `calculator`, or, with an addend, one for"
                  + " each operation (`add`, `sub`, `mul`), which an agent has.")
          @Default("0")
          @Range(min = 0, max = 1)
          double calculatorShare,
      @Inline PromptKeys prompts,
      @Inline MixKeys mix)
      implements DataSetSection, Validated {
    /** Most pairs that are kept in memory. */
    private static final long MAX_PAIRS = 1_000_000;

    /** The task's own settings. */
    public ArithmeticSettings settings() {
      boolean padded = format == Format.PADDED || format == Format.PADDED_REVERSED;
      boolean reversed = format == Format.REVERSED || format == Format.PADDED_REVERSED;
      return new ArithmeticSettings(operation, min, max, padded, reversed)
          .withTools(addend, calculatorShare);
    }

    private long pairs() {
      return (long) (max - min + 1) * (max - min + 1);
    }

    @Override
    public boolean holdsOut() {
      return heldOutShare > 0;
    }

    @Override
    public void check(RuleChecker rules) {
      rules
          .on("max", "min")
          .require(() -> max >= min, "must be min (%d) or greater".formatted(min), "raise it");
      rules
          .on("max", "min")
          .require(
              () -> max < min || pairs() <= MAX_PAIRS,
              "makes %,d pairs, and at most %,d fit".formatted(pairs(), MAX_PAIRS),
              "lower it, or raise min");
    }
  }

  /** Task folders. */
  @Doc(
      "Task folders in the format of Harbor: `instruction.md`, `task.toml`, `environment/` and"
          + " `tests/test.sh`; docs/episodes.md says which run in a sandbox.")
  record Harbor(
      @Doc(
              "Folder of the task folders, on every host; a relative path starts from the folder of"
                  + " the configuration file.")
          @RelativeToFile
          Path folder,
      @Doc("Share of the tasks kept for evaluation, never trained on.")
          @Default("0.2")
          @Range(min = 0, max = 1, maxExclusive = true)
          double heldOutShare,
      @Doc(
              "Whether the warm-up imitates each `solution/solve.sh` of one line, as a call of"
                  + " `shell` in the format `inline`.")
          @Default("false")
          boolean imitateSolutions,
      @Inline PromptKeys prompts,
      @Inline MixKeys mix)
      implements DataSetSection {
    @Override
    public boolean holdsOut() {
      return heldOutShare > 0;
    }
  }

  /** Grade-school word problems. */
  @Doc("Grade-school word problems (Cobbe et al. 2021): `question` and `answer`.")
  record Gsm8k(
      @Doc(
              "How the answer is read: `strict` is the sentence `The answer is N.`, the one to"
                  + " train with; `flexible` is the last number of the completion; `any` is strict"
                  + " where that finds something, else flexible; `anchors` is the last `\\boxed{}`,"
                  + " else the last `####`, else the last \"the answer is\".")
          @Default("strict")
          Gsm8kMode verifierMode,
      @Inline DataKeys data,
      @Inline PromptKeys prompts,
      @Inline MixKeys mix)
      implements OfFiles {}

  /** Competition mathematics. */
  @SuppressWarnings("JavaLangClash") // the data set's own name, which "name: math" chooses
  @Doc("Competition mathematics (Hendrycks et al. 2021), and MATH-500.")
  record Math(
      @Doc("Levels that are kept, 1 to 5; none means all.") List<Integer> levels,
      @Doc("Subjects that are kept, such as `counting_and_probability`; none means all.")
          List<String> subjects,
      @Inline DataKeys data,
      @Inline PromptKeys prompts,
      @Inline MixKeys mix)
      implements OfFiles {}

  /** Competition mathematics for reinforcement learning. */
  @Doc("Competition mathematics for reinforcement learning: 40,315 problems.")
  record Deepscaler(@Inline DataKeys data, @Inline PromptKeys prompts, @Inline MixKeys mix)
      implements OfFiles {}

  /** Examination problems. */
  @Doc("The American Invitational Mathematics Examination: 90 problems.")
  record Aime(@Inline DataKeys data, @Inline PromptKeys prompts, @Inline MixKeys mix)
      implements OfFiles {}

  /** Hard examination problems. */
  @Doc("100 problems harder than AIME's.")
  record Beyondaime(@Inline DataKeys data, @Inline PromptKeys prompts, @Inline MixKeys mix)
      implements OfFiles {}

  /** Short Python functions. */
  @Doc(
      "Short Python functions judged by asserts (Austin et al. 2021), whole or hand-checked;"
          + " `split` is `train`, `validation`, `test`, `prompt` or `all`, by task id.")
  record Mbpp(@Inline DataKeys data, @Inline PromptKeys prompts, @Inline MixKeys mix)
      implements OfFiles {}

  /** Python functions below a signature. */
  @Doc("Python functions below signature and docstring (Chen et al. 2021).")
  record Humaneval(@Inline DataKeys data, @Inline PromptKeys prompts, @Inline MixKeys mix)
      implements OfFiles {}

  /** Contest problems. */
  @Doc("Contest and interview problems (Hendrycks et al. 2021).")
  record Apps(
      @Doc("Kept of `introductory`, `interview` and `competition`; none means all.")
          List<Difficulty> difficulty,
      @Inline DataKeys data,
      @Inline PromptKeys prompts,
      @Inline MixKeys mix)
      implements OfFiles {}

  /** Checkable instructions. */
  @Doc("Prompts with checkable instructions (Zhou et al. 2023).")
  record Ifeval(@Inline DataKeys data, @Inline PromptKeys prompts, @Inline MixKeys mix)
      implements OfFiles {}

  /** One checkable instruction each. */
  @Doc("Training prompts with one checkable instruction each (Lambert et al. 2024).")
  record RlvrIfeval(@Inline DataKeys data, @Inline PromptKeys prompts, @Inline MixKeys mix)
      implements OfFiles {}

  /** Several checkable instructions each. */
  @Doc("Training prompts with one to five checkable instructions (Pyatkin et al. 2025).")
  record IfMulti(@Inline DataKeys data, @Inline PromptKeys prompts, @Inline MixKeys mix)
      implements OfFiles {}

  /** Unusual checkable instructions. */
  @Doc("Prompts with unusual checkable instructions (Pyatkin et al. 2025).")
  record Ifbench(@Inline DataKeys data, @Inline PromptKeys prompts, @Inline MixKeys mix)
      implements OfFiles {}

  /** A data set of one's own. */
  @Doc(
      "A data set of your own, in any of the file formats, its columns named here; a name with"
          + " dots, such as `reward_model.ground_truth`, leads into objects. docs/data.md shows the"
          + " forms.")
  record Jsonl(
      @Doc(
              "Column with the id; every row then has one, and all differ. Empty means `id`, where"
                  + " rows have it, else an id made of question and answer.")
          @Default("")
          String idField,
      @Doc(
              "The question: text with columns in braces, such as `Q: {question}`. A column alone"
                  + " may hold a conversation, a list of messages with role and content, which"
                  + " `template: chat` shows.")
          @Default("{prompt}")
          String question,
      @Doc(
              "Column with the answer, as the verifier reads it: a text, a number, or a list of"
                  + " one; objects and lists are JSON for verifiers that read fields.")
          @Default("answer")
          String answerField,
      @Doc(
              "Column with a completion worth imitating; rows may lack it. No effect where it is"
                  + " answer_field.")
          @Default("solution")
          String solutionField,
      @Doc("Field with a row's own verifier; rows may lack it.") @Default("verifier")
          String verifierField,
      @Doc("Verifier of rows that name none: `math`, `gsm8k`, `numeric`, `mbpp` and so on.")
          String verifier,
      @Inline DataKeys data,
      @Inline PromptKeys prompts,
      @Inline MixKeys mix)
      implements OfFiles, Validated {
    @Override
    public void check(RuleChecker rules) {
      rules
          .on("file")
          .require(
              () -> !data.file().isEmpty(),
              "is required, because nobody else knows this data set",
              "name the file");
      rules
          .on("question")
          .require(
              () -> question.matches("(?s).*\\{[A-Za-z0-9_.-]+\\}.*"),
              "must name a field in braces",
              "write for example \"{prompt}\"");
    }
  }

  /** The name that chooses it. */
  @Override
  default String name() {
    return switch (this) {
      case Arithmetic _ -> "arithmetic";
      case Harbor _ -> "harbor";
      case Jsonl _ -> "jsonl";
      case Gsm8k _ -> "gsm8k";
      case Math _ -> "math";
      case Deepscaler _ -> "deepscaler";
      case Aime _ -> "aime";
      case Beyondaime _ -> "beyondaime";
      case Mbpp _ -> "mbpp";
      case Humaneval _ -> "humaneval";
      case Apps _ -> "apps";
      case Ifeval _ -> "ifeval";
      case RlvrIfeval _ -> "rlvr_ifeval";
      case IfMulti _ -> "if_multi";
      case Ifbench _ -> "ifbench";
    };
  }
}
