package io.troupe.gym.config;

import io.troupe.config.binding.RuleChecker;
import io.troupe.config.binding.Validated;
import io.troupe.config.rollout.VerifierSection;
import io.troupe.config.schema.Default;
import io.troupe.config.schema.Doc;
import io.troupe.config.schema.Range;
import io.troupe.config.schema.Variant;
import io.troupe.config.task.DataSection;
import io.troupe.config.task.DataSetSection;
import io.troupe.tasks.PromptTemplate;
import java.util.List;
import java.util.stream.Stream;

/** The task of a gym's student. */
@Variant(
    key = "name",
    defaultsTo = "arithmetic",
    meaning =
        "The items; `arithmetic` has known skills and a script that makes rows; `datasets` takes"
            + " rows of data sets, and a language model writes new ones.")
public sealed interface GymTaskSection {
  /** Arithmetic of two digits with known skills. */
  @Doc(
      "Sums and differences of two-digit numbers, with and without carry, and reversals of four"
          + " digits: the leaves `add/nocarry`, `add/carry`, `sub/noborrow`, `sub/borrow` and"
          + " `reverse/digits`. A script makes rows.")
  record Arithmetic(
      @Doc(value = "Items of each leaf that steer the agent.", unit = "items")
          @Default("150")
          @Range(min = 1, max = 2000)
          int validationItems,
      @Doc(value = "Items of each leaf that are answered once, at the end.", unit = "items")
          @Default("500")
          @Range(min = 1, max = 2000)
          int testItems,
      @Doc(
              value = "Rows of each leaf, except those of gate.weak, of the base student.",
              unit = "rows")
          @Default("1000")
          @Range(min = 1, max = 10_000)
          int baseRows)
      implements GymTaskSection {
    /** Tokens of the longest prompt, its answer and the end: {@code r1234=4321}. */
    static final int LONGEST = 11;
  }

  /** Rows of data sets. */
  @Doc(
      "Rows of data sets, each section as a run's `task` with `template: raw`: a pretrained student"
          + " applies the template of its recipe. All rows of a section are taken.")
  record Datasets(
      @Doc("Items that steer the agent.") List<DataSetSection> validation,
      @Doc("Items that are answered once, at the end; none may be in `validation`.")
          List<DataSetSection> test,
      @Doc("Items that a language model may see as examples; none may be in the other two.")
          List<DataSetSection> examples,
      @Doc(
              "One or two facets of the rows that are skill and subskill, such as [subject, level]"
                  + " of `math`; `source` is the name of the data set; `discovered` has the language"
                  + " model find them.")
          List<String> skills,
      @Doc("Where data sets are found.") DataSection data,
      @Doc("The pools that judge.") VerifierSection verifier)
      implements GymTaskSection, Validated {
    /** The word for skills that a language model finds. */
    public static final String DISCOVERED = "discovered";

    /** Whether a language model finds the skills. */
    public boolean discovers() {
      return skills.equals(List.of(DISCOVERED));
    }

    @Override
    public void check(RuleChecker rules) {
      rules
          .on("validation")
          .require(() -> !validation.isEmpty(), "must list a data set", "add '- name: gsm8k'");
      rules
          .on("test")
          .require(() -> !test.isEmpty(), "must list a data set", "add '- name: gsm8k'");
      rules
          .on("skills")
          .require(
              () ->
                  (skills.size() == 1 || skills.size() == 2)
                      && (discovers() || !skills.contains(DISCOVERED)),
              "must name one or two facets, or discovered alone",
              "write [source]");
      rules
          .on("validation", "test", "examples")
          .require(
              () ->
                  Stream.of(validation, test, examples)
                      .flatMap(List::stream)
                      .allMatch(each -> each.prompts().template() == PromptTemplate.PromptForm.RAW),
              "must have template: raw; the student's recipe has the template",
              "leave it out");
    }
  }
}
