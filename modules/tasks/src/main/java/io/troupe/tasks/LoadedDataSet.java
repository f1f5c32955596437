package io.troupe.tasks;

import io.troupe.core.prompt.Prompt;
import io.troupe.core.prompt.PromptId;
import io.troupe.tasks.DataSetSettings.HeldOut;
import io.troupe.tasks.DataSetSettings.LengthLimits;
import io.troupe.tasks.DataSetSettings.Ordering;
import io.troupe.tasks.DataSetSettings.Rows;
import io.troupe.tasks.RowItems.WordedItem;
import io.troupe.tasks.rows.TaskDataException;
import io.troupe.tasks.sets.DataItem;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.Predicate;

/**
 * The prompts of one data set after reading, filtering, applying the template, splitting and
 * ordering.
 *
 * @param verifiers verifier of each source; several sources if rows name their own verifiers
 * @param facets of the rows that have any, by prompt
 * @param ownLimits of the rows that have a token limit of their own, by prompt
 */
record LoadedDataSet(
    List<Prompt> train,
    List<Prompt> heldOut,
    Map<String, String> verifiers,
    Map<PromptId, Map<String, String>> facets,
    Map<PromptId, Integer> ownLimits,
    String characters,
    SourceReport report) {
  LoadedDataSet {
    train = List.copyOf(train);
    heldOut = List.copyOf(heldOut);
    verifiers = Map.copyOf(verifiers);
    facets = Map.copyOf(facets);
    ownLimits = Map.copyOf(ownLimits);
  }

  /**
   * Loads a set.
   *
   * @throws TaskDataException if its data are missing or bad, or nothing is left to train on
   */
  static LoadedDataSet load(DataSetSettings settings) throws IOException {
    return new Loading(settings).load();
  }

  /** The steps from rows to prompts, with a report of the rows that each step leaves out. */
  private static final class Loading {
    private static final String ROWS = "rows";
    private static final String PROMPTS = "prompts";
    private static final String HELD_OUT_ROWS = "held-out rows";
    private static final String LISTED = "ids of the order file";

    /** The configuration keys of facets with another name. */
    private static final Map<String, String> KEYS =
        Map.of("level", "levels", "subject", "subjects");

    private final DataSetSettings settings;
    private final Map<String, String> verifiers = new TreeMap<>();
    private final Map<PromptId, Map<String, String>> facets = new HashMap<>();
    private final Map<PromptId, Integer> ownLimits = new HashMap<>();
    private final List<ExcludedPrompts> refused = new ArrayList<>();
    private final List<ExcludedPrompts> left = new ArrayList<>();
    private String characters = "";

    Loading(DataSetSettings settings) {
      this.settings = settings;
    }

    LoadedDataSet load() throws IOException {
      RowItems contents = contents();
      skip(contents, ROWS);
      refuse(contents, ROWS);
      List<Prompt> all = prompts(contents.worded(), settings.facets(), ROWS);
      reportFilters(
          contents, settings.facets(), ROWS, all.isEmpty() ? _ -> false : this::evaluated);
      if (all.isEmpty()) {
        throw ExcludedPrompts.nothing(place(), "to train on", left);
      }
      List<Prompt> train = new ArrayList<>();
      List<Prompt> heldOut = new ArrayList<>();
      switch (settings.heldOut()) {
        case HeldOut.Share(double share, long seed) -> {
          boolean cutFirst = !(settings.order() instanceof Ordering.Listed);
          List<Prompt> split = cutFirst ? first(all, PROMPTS) : all;
          refuseShareOfAll(share, split);
          PromptSplit sets = PromptSplit.split(split, share, seed);
          train.addAll(sets.train());
          heldOut.addAll(sets.heldOut());
        }
        case HeldOut.OtherFiles(List<Path> files, var facets) -> {
          train.addAll(first(all, PROMPTS));
          heldOut.addAll(first(others(files, facets), "held-out prompts"));
        }
      }
      List<Prompt> ordered = ordered(train, heldOut);
      refuseTrainedOn(ordered, heldOut);
      SourceReport report = new SourceReport(contents.rows(), refused, left);
      return new LoadedDataSet(ordered, heldOut, verifiers, facets, ownLimits, characters, report);
    }

    private String place() {
      return settings.rows() instanceof Rows.Files own
          ? String.valueOf(own.files().getFirst())
          : settings.source();
    }

    private void refuseShareOfAll(double share, List<Prompt> prompts) {
      if (Math.round(share * prompts.size()) == prompts.size()) {
        throw new TaskDataException(
            "%s: held_out_share (%s) leaves none of its %,d prompts to train on; lower it"
                .formatted(place(), share, prompts.size()));
      }
    }

    /** Other files may have rows of these files. */
    private void refuseTrainedOn(List<Prompt> train, List<Prompt> heldOut) {
      Set<String> trained = new HashSet<>(ids(train));
      List<String> both = ids(heldOut).stream().filter(trained::contains).toList();
      if (!both.isEmpty()) {
        throw new TaskDataException(
            "%s: the same row is trained on and held out, %s (%,d in all); remove it from one file"
                .formatted(place(), both.getFirst(), both.size()));
      }
    }

    private void leave(List<String> ids, int all, String what, String reason, String remedy) {
      if (!ids.isEmpty()) {
        left.add(
            new ExcludedPrompts(
                settings.source(), ids.size(), all, what, reason, ids.getFirst(), remedy));
      }
    }

    private void skip(RowItems contents, String what) {
      contents
          .skipped()
          .forEach(
              (lacks, ids) ->
                  leave(
                      ids.stream().map(this::id).toList(),
                      contents.rows(),
                      what,
                      "without " + lacks,
                      "add %s to the data".formatted(lacks)));
    }

    private void refuse(RowItems contents, String what) {
      refused.addAll(ExcludedPrompts.refused(settings.source(), what, contents.refused()));
    }

    private RowItems contents() throws IOException {
      return switch (settings.rows()) {
        case Rows.Files own -> rows(own.files(), own, own.idPrefix());
        case Rows.Folders(Path parent, boolean imitated) -> {
          characters = HarborPrompts.CHARACTERS;
          yield RowItems.of(HarborPrompts.items(parent, imitated), settings.wording());
        }
        case Rows.Calculated(ArithmeticSettings arithmetic) -> {
          ArithmeticPrompts made = new ArithmeticPrompts(arithmetic);
          characters = made.alphabet();
          yield RowItems.of(made.items(), settings.wording());
        }
      };
    }

    private RowItems rows(List<Path> files, Rows.Files form, String idPrefix) throws IOException {
      return RowItems.read(
          files,
          form.format().create(idPrefix),
          settings.wording(),
          form.limit(),
          item -> form.keeping().keeps(source(item), verifier(item)));
    }

    private String source(DataItem item) {
      return item.verifier().isEmpty()
          ? settings.source()
          : settings.source() + "/" + item.verifier();
    }

    private String verifier(DataItem item) {
      return item.verifier().isEmpty() ? settings.verifier() : item.verifier();
    }

    private List<Prompt> others(List<Path> files, Map<String, List<String>> facets)
        throws IOException {
      if (!(settings.rows() instanceof Rows.Files own)) {
        throw new IllegalArgumentException("calculated prompts have no files");
      }
      RowItems contents = rows(files, own, own.idPrefix() + "heldout_");
      int before = left.size();
      if (!sharesFiles()) {
        skip(contents, HELD_OUT_ROWS);
        refuse(contents, HELD_OUT_ROWS);
      }
      List<Prompt> prompts = prompts(contents.worded(), facets, HELD_OUT_ROWS);
      boolean told = sharesFiles() && !prompts.isEmpty();
      reportFilters(contents, facets, HELD_OUT_ROWS, _ -> told);
      if (prompts.isEmpty()) {
        throw ExcludedPrompts.nothing(
            String.valueOf(files.getFirst()), "to evaluate on", left.subList(before, left.size()));
      }
      return prompts;
    }

    private String id(String item) {
      return settings.alias().isEmpty() ? item : settings.alias() + "/" + item;
    }

    /**
     * Returns the prompts of the items that pass facets and lengths.
     *
     * @param rows name of the items in the report
     */
    private List<Prompt> prompts(
        List<WordedItem> items, Map<String, List<String>> facets, String rows) {
      List<WordedItem> kept = items.stream().filter(each -> passes(each.item(), facets)).toList();
      LengthLimits cut = settings.cut();
      List<Prompt> worded = kept.stream().map(this::prompt).toList();
      List<Prompt> shortEnough =
          within(
              worded,
              prompt -> prompt.text().length() <= cut.promptCharacters(),
              worded.size(),
              rows,
              "with more than %,d characters of prompt".formatted(cut.promptCharacters()),
              "raise max_prompt_characters");
      return within(
          shortEnough,
          prompt -> prompt.solution().length() <= cut.solutionCharacters(),
          worded.size(),
          rows,
          "with more than %,d characters of solution".formatted(cut.solutionCharacters()),
          "raise max_solution_characters");
    }

    private List<Prompt> within(
        List<Prompt> prompts,
        Predicate<Prompt> limit,
        int all,
        String rows,
        String reason,
        String remedy) {
      List<Prompt> over = prompts.stream().filter(limit.negate()).toList();
      leave(ids(over), all, rows, reason, remedy);
      return prompts.stream().filter(limit).toList();
    }

    /**
     * Reports each excluded item by the first facet that it does not pass.
     *
     * @param elsewhere whether an item is used or reported elsewhere
     */
    private void reportFilters(
        RowItems contents,
        Map<String, List<String>> facets,
        String rows,
        Predicate<DataItem> elsewhere) {
      Map<String, List<String>> by = new TreeMap<>();
      for (DataItem item : contents.items()) {
        new TreeMap<>(facets)
            .entrySet().stream()
                .filter(facet -> !passes(item, Map.ofEntries(facet)) && !elsewhere.test(item))
                .findFirst()
                .ifPresent(
                    facet ->
                        by.computeIfAbsent(facet.getKey(), _ -> new ArrayList<>())
                            .add(id(item.id())));
      }
      by.forEach(
          (facet, ids) ->
              leave(
                  ids,
                  contents.items().size(),
                  rows,
                  "of another %s than %s"
                      .formatted(facet, String.join(", ", facets.getOrDefault(facet, List.of()))),
                  "change %s, of which there are %s"
                      .formatted(key(facet, rows), String.join(", ", contents.values(facet)))));
    }

    /** Whether an item that is not trained on belongs to the held-out part of the files. */
    private boolean evaluated(DataItem item) {
      return sharesFiles()
          && settings.heldOut() instanceof HeldOut.OtherFiles other
          && passes(item, other.facets());
    }

    /** Whether rows to train on and held-out ones are parts of the same files. */
    private boolean sharesFiles() {
      return settings.rows() instanceof Rows.Files own
          && settings.heldOut() instanceof HeldOut.OtherFiles other
          && own.files().equals(other.files());
    }

    private static String key(String facet, String rows) {
      boolean otherSplit = facet.equals("split") && rows.equals(HELD_OUT_ROWS);
      return otherSplit ? "held_out_split" : KEYS.getOrDefault(facet, facet);
    }

    private static List<String> ids(List<Prompt> prompts) {
      return prompts.stream().map(prompt -> prompt.id().value()).toList();
    }

    private static boolean passes(DataItem item, Map<String, List<String>> facets) {
      return facets.entrySet().stream()
          .allMatch(
              facet -> facet.getValue().contains(item.facets().getOrDefault(facet.getKey(), "")));
    }

    private Prompt prompt(WordedItem worded) {
      DataItem item = worded.item();
      String source = source(item);
      verifiers.put(source, verifier(item));
      PromptId id = new PromptId(id(item.id()));
      if (!item.facets().isEmpty()) {
        facets.put(id, item.facets());
      }
      if (item.own().maxTokens() > 0) {
        ownLimits.put(id, item.own().maxTokens());
      }
      return new Prompt(
          id,
          source,
          worded.text(),
          item.answer(),
          settings.wording().solution(item),
          worded.row());
    }

    private List<Prompt> first(List<Prompt> prompts, String what) {
      return settings.order() instanceof Ordering.Listed ? prompts : cut(prompts, what);
    }

    private List<Prompt> cut(List<Prompt> prompts, String what) {
      int most = Math.min(settings.cut().prompts(), prompts.size());
      leave(
          ids(prompts.subList(most, prompts.size())),
          prompts.size(),
          what,
          "after the first %,d".formatted(most),
          "raise rows");
      return prompts.subList(0, most);
    }

    private List<Prompt> ordered(List<Prompt> train, List<Prompt> heldOut) {
      return switch (settings.order()) {
        case Ordering.Natural _ -> train;
        case Ordering.Shuffled(long seed) -> DataSetMixing.shuffled(train, seed);
        case Ordering.Listed listed -> {
          Curriculum.Applied applied = Curriculum.apply(listed, settings.alias(), train, heldOut);
          Set<Prompt> used = new HashSet<>(applied.prompts());
          leave(
              ids(train.stream().filter(prompt -> !used.contains(prompt)).toList()),
              train.size(),
              PROMPTS,
              "not listed in the order file",
              "add them to the file of order");
          int ids = listed.ids().size();
          String correct = "correct the file of order";
          leave(applied.unmatched(), ids, LISTED, "which name no prompt", correct);
          leave(applied.heldOut(), ids, LISTED, "which name held-out prompts", correct);
          yield cut(applied.prompts(), PROMPTS);
        }
      };
    }
  }
}
