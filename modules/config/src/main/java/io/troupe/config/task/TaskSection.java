package io.troupe.config.task;

import io.troupe.config.binding.RuleChecker;
import io.troupe.config.binding.Validated;
import io.troupe.config.schema.Default;
import io.troupe.config.schema.Doc;
import io.troupe.config.schema.Inline;
import io.troupe.config.schema.Variant;
import java.util.List;

/** The task of the policy: prompts, and the verifier of their answers. */
@Variant(key = "name", meaning = "Where prompts come from and what answer is right.")
public sealed interface TaskSection permits DataSetSection, TaskSection.Mixture {
  /** Whether some prompts are never trained on. */
  boolean holdsOut();

  /** The name that chooses it. */
  String name();

  /** Returns the choice of the next prompt. */
  ChoiceKeys choice();

  /** The names of its sources whose prompts are task folders. */
  default List<String> folderSources() {
    return switch (this) {
      case DataSetSection.Harbor harbor -> List.of(harbor.source());
      case DataSetSection _ -> List.of();
      case Mixture mixture ->
          mixture.datasets().stream().flatMap(each -> each.folderSources().stream()).toList();
    };
  }

  /** Several data sets. */
  @Doc(
      "Several data sets as one task, each written as a task of its own: a list of sections with"
          + " `name` and the keys of that data set.")
  record Mixture(
      @Doc(
              "`weighted` draws the next prompt from a data set chosen by weight until all are"
                  + " used; `sequential` goes through one after the other.")
          @Default("weighted")
          Mode mode,
      @Doc(
              "Whether each data set without an order file is shuffled before mixing; the mixed"
                  + " order is the same in every epoch.")
          @Default("true")
          boolean shuffle,
      @Doc("The data sets, each a section as `task` itself, but no mixture.")
          List<DataSetSection> datasets,
      @Inline ChoiceKeys choice)
      implements TaskSection, Validated {
    /** The order of data sets in a mixture. */
    public enum Mode {
      WEIGHTED,
      SEQUENTIAL
    }

    @Override
    public String name() {
      return "mixture";
    }

    @Override
    public boolean holdsOut() {
      return datasets.stream().anyMatch(DataSetSection::holdsOut);
    }

    @Override
    public void check(RuleChecker rules) {
      rules
          .on("datasets")
          .require(() -> !datasets.isEmpty(), "must list a data set", "add '- name: gsm8k'");
      for (int i = 0; i < datasets.size(); i++) {
        String source = datasets.get(i).source();
        List<String> earlier = datasets.stream().limit(i).map(DataSetSection::source).toList();
        rules
            .on("datasets[%d].name".formatted(i))
            .require(
                () -> !earlier.contains(source),
                "must differ from datasets[%d].name, or go under an alias of its own"
                    .formatted(earlier.indexOf(source)),
                "give one of them an alias");
        ChoiceKeys.Rule rule = datasets.get(i).choice().sampling();
        rules
            .on("datasets[%d].sampling".formatted(i))
            .require(
                () -> rule == ChoiceKeys.Rule.UNIFORM,
                "must be left out of a part of a mixture, whose prompts are chosen as one pool",
                "set task.sampling beside task.name: mixture");
      }
    }
  }
}
