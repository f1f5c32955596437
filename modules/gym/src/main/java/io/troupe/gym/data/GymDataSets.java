package io.troupe.gym.data;

import io.troupe.config.task.DataSection;
import io.troupe.config.task.DataSetSection;
import io.troupe.config.task.TaskSection;
import io.troupe.core.prompt.Prompt;
import io.troupe.gym.config.GymTaskSection;
import io.troupe.gym.item.GymItem;
import io.troupe.run.task.InvalidVerifierException;
import io.troupe.run.task.TaskLoader;
import io.troupe.tasks.DataSetTask;
import io.troupe.tasks.PromptTemplate;
import io.troupe.tasks.rows.TaskDataException;
import io.troupe.verifiers.VerifierSpec;
import java.io.IOException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

/** Loads the data sets of a gym. */
public final class GymDataSets {
  /** The word in {@code task.skills} for the name of an item's data set. */
  public static final String SOURCE = "source";

  private static final long SEED = 0;

  private final GymTaskSection.Datasets section;
  private final List<Prompt> prompts = new ArrayList<>();
  private final Map<String, VerifierSpec> verifiers = new LinkedHashMap<>();

  private GymDataSets(GymTaskSection.Datasets section) {
    this.section = section;
  }

  /**
   * Loads validation, test and examples.
   *
   * @throws TaskDataException if rows are bad, lack a facet, or are in two parts
   */
  public static DataSetGym load(GymTaskSection.Datasets section)
      throws IOException, InvalidVerifierException {
    GymDataSets sets = new GymDataSets(section);
    GymItems items =
        new GymItems(
            sets.items(section.validation()),
            sets.items(section.test()),
            sets.items(section.examples()));
    return new DataSetGym(items, sets.prompts, new GymJudges(section.verifier(), sets.verifiers));
  }

  private List<GymItem> items(List<DataSetSection> sets) throws IOException {
    if (sets.isEmpty()) {
      return List.of();
    }
    TaskSection task =
        sets.size() == 1
            ? sets.getFirst()
            : new TaskSection.Mixture(
                TaskSection.Mixture.Mode.SEQUENTIAL, false, sets, sets.getFirst().choice());
    DataSection data = section.data();
    TaskLoader loader =
        TaskLoader.of(task, data, SEED, PromptTemplate.noTemplate()).judgedBy(section.verifier());
    DataSetTask loaded = loader.load();
    verifiers.putAll(loader.verifiers(loaded));
    List<Prompt> all = Stream.concat(loaded.train().stream(), loaded.heldOut().stream()).toList();
    prompts.addAll(all);
    List<GymItem> items = new ArrayList<>();
    List<String> facets = section.discovers() ? List.of(SOURCE) : section.skills();
    for (Prompt prompt : all) {
      List<String> skills = new ArrayList<>();
      for (String facet : facets) {
        skills.add(skill(facet, prompt, loaded.facets(prompt.id())));
      }
      items.add(
          new GymItem(
              prompt.id().value(),
              skills.getFirst(),
              skills.size() > 1 ? skills.get(1) : "",
              prompt.text(),
              prompt.answer()));
    }
    return items;
  }

  /** The value of a facet, as part of a path. */
  private static String skill(String facet, Prompt prompt, Map<String, String> facets) {
    String value = facet.equals(SOURCE) ? prompt.source() : facets.get(facet);
    if (value == null || value.isBlank()) {
      throw new TaskDataException(
          "task.skills: the row %s has no %s; its data set has %s, and '%s'"
              .formatted(prompt.id(), facet, String.join(", ", facets.keySet()), SOURCE));
    }
    return value.replace('/', '-');
  }
}
