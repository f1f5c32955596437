package io.troupe.tasks;

import io.troupe.chat.TurnEnd;
import io.troupe.core.prompt.Prompt;
import io.troupe.core.prompt.PromptId;
import io.troupe.core.supervised.SupervisedExample;
import io.troupe.tasks.DataSetSettings.Ordering;
import io.troupe.tasks.rows.TaskDataException;
import java.io.IOException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.TreeSet;

/** A task of one data set, or of several mixed. */
public final class DataSetTask implements Task {
  private final String name;
  private final PromptSplit sets;
  private final Order order;
  private final List<TaskSource> sources;
  private final Map<PromptId, Map<String, String>> facets;
  private final Map<PromptId, Integer> ownLimits;
  private final String alphabet;
  private final List<SupervisedExample> imitated;

  private DataSetTask(
      String name,
      PromptSplit sets,
      Order order,
      List<TaskSource> sources,
      Map<PromptId, Map<String, String>> facets,
      Map<PromptId, Integer> ownLimits,
      String alphabet,
      List<SupervisedExample> imitated) {
    this.name = name;
    this.sets = sets;
    this.order = order;
    this.sources = List.copyOf(sources);
    this.facets = Map.copyOf(facets);
    this.ownLimits = Map.copyOf(ownLimits);
    this.alphabet = alphabet;
    this.imitated = List.copyOf(imitated);
  }

  /** The way in which several data sets become one list of prompts. */
  public sealed interface Mix {
    /** See {@link DataSetMixing#weighted}. */
    record Weighted(long seed) implements Mix {}

    /** See {@link DataSetMixing#sequential}. */
    record Sequential() implements Mix {}
  }

  /**
   * Loads one data set. The run shuffles its prompts, unless an order file lists them.
   *
   * @throws TaskDataException if its data are missing or bad; the message names file, line and rule
   * @throws IOException if a file cannot be read
   */
  public static DataSetTask single(DataSetSettings settings) throws IOException {
    LoadedDataSet set = LoadedDataSet.load(settings);
    Order order = settings.order() instanceof Ordering.Natural ? Order.SHUFFLED : Order.LISTED;
    return new DataSetTask(
        settings.source(),
        new PromptSplit(set.train(), set.heldOut()),
        order,
        sources(settings, set),
        set.facets(),
        set.ownLimits(),
        alphabet(List.of(set)),
        List.of());
  }

  /**
   * Loads several data sets as one task, whose prompts are listed in mixed order.
   *
   * @param settings at least one; each of another source
   * @throws TaskDataException if data are missing or bad, or two sources or prompts have the same
   *     name
   * @throws IOException if a file cannot be read
   */
  public static DataSetTask mixture(List<DataSetSettings> settings, Mix mix) throws IOException {
    if (settings.isEmpty()) {
      throw new TaskDataException(
          "a mixture has at least one data set; list some under task.datasets");
    }
    refuseSameSources(settings);
    List<LoadedDataSet> loaded = new ArrayList<>();
    List<TaskSource> sources = new ArrayList<>();
    for (DataSetSettings each : settings) {
      LoadedDataSet set = LoadedDataSet.load(each);
      loaded.add(set);
      sources.addAll(sources(each, set));
    }
    List<List<Prompt>> queues = loaded.stream().map(LoadedDataSet::train).toList();
    List<Prompt> mixed =
        switch (mix) {
          case Mix.Sequential() -> DataSetMixing.sequential(queues);
          case Mix.Weighted(long seed) ->
              DataSetMixing.weighted(
                  queues, settings.stream().map(DataSetSettings::weight).toList(), seed);
        };
    List<Prompt> heldOut =
        DataSetMixing.sequential(loaded.stream().map(LoadedDataSet::heldOut).toList());
    Map<PromptId, Map<String, String>> facets = new HashMap<>();
    loaded.forEach(set -> facets.putAll(set.facets()));
    Map<PromptId, Integer> ownLimits = new HashMap<>();
    loaded.forEach(set -> ownLimits.putAll(set.ownLimits()));
    return new DataSetTask(
        "mixture",
        distinct(mixed, heldOut),
        Order.LISTED,
        sources,
        facets,
        ownLimits,
        alphabet(loaded),
        List.of());
  }

  @Override
  public String name() {
    return name;
  }

  @Override
  public List<Prompt> train() {
    return sets.train();
  }

  @Override
  public List<Prompt> heldOut() {
    return sets.heldOut();
  }

  @Override
  public String alphabet() {
    return alphabet;
  }

  @Override
  public Order order() {
    return order;
  }

  @Override
  public List<TaskSource> sources() {
    return sources;
  }

  @Override
  public List<SupervisedExample> imitated() {
    return imitated;
  }

  @Override
  public Map<String, String> facets(PromptId prompt) {
    return facets.getOrDefault(prompt, Map.of());
  }

  @Override
  public Map<PromptId, Integer> ownLimits() {
    return ownLimits;
  }

  /** Returns this task with other prompts and the reports about them. */
  DataSetTask with(List<Prompt> train, List<Prompt> heldOut, List<TaskSource> reported) {
    return new DataSetTask(
        name,
        new PromptSplit(train, heldOut),
        order,
        reported,
        facets,
        ownLimits,
        alphabet,
        imitated);
  }

  /** Returns this task with examples that its run imitates. */
  public DataSetTask imitating(List<SupervisedExample> examples) {
    return new DataSetTask(name, sets, order, sources, facets, ownLimits, alphabet, examples);
  }

  private static void refuseSameSources(List<DataSetSettings> settings) {
    TreeSet<String> seen = new TreeSet<>();
    for (DataSetSettings each : settings) {
      if (!seen.add(each.source())) {
        throw new TaskDataException(
            "two data sets of the mixture are named %s; give one of them another alias"
                .formatted(each.source()));
      }
    }
  }

  private static PromptSplit distinct(List<Prompt> train, List<Prompt> heldOut) {
    try {
      return new PromptSplit(train, heldOut);
    } catch (IllegalArgumentException twice) {
      throw new TaskDataException(
          twice.getMessage()
              + "; give one of the two data sets an alias, which goes before its ids");
    }
  }

  private static List<TaskSource> sources(DataSetSettings settings, LoadedDataSet set) {
    List<TaskSource> sources = new ArrayList<>();
    for (Map.Entry<String, String> each : new TreeMap<>(set.verifiers()).entrySet()) {
      sources.add(
          new TaskSource(
              each.getKey(),
              settings.source(),
              each.getValue(),
              settings.wording().form(),
              settings.limits(),
              new TurnEnd.Unmarked(),
              set.report()));
    }
    return sources;
  }

  private static String alphabet(List<LoadedDataSet> sets) {
    TreeSet<Integer> characters = new TreeSet<>();
    for (LoadedDataSet set : sets) {
      new PromptSplit(set.train(), set.heldOut()).alphabet().codePoints().forEach(characters::add);
      set.characters().codePoints().forEach(characters::add);
    }
    StringBuilder alphabet = new StringBuilder();
    characters.forEach(alphabet::appendCodePoint);
    return alphabet.toString();
  }
}
