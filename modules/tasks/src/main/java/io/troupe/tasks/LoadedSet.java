package io.troupe.tasks;

import io.troupe.core.prompt.Prompt;
import io.troupe.core.prompt.PromptId;
import io.troupe.tasks.SetSettings.Cut;
import io.troupe.tasks.SetSettings.HeldOut;
import io.troupe.tasks.SetSettings.Ordering;
import io.troupe.tasks.SetSettings.Rows;
import io.troupe.tasks.rows.BadRow;
import io.troupe.tasks.rows.Row;
import io.troupe.tasks.rows.RowFiles;
import io.troupe.tasks.sets.Item;
import io.troupe.tasks.sets.Reading;
import io.troupe.tasks.sets.RowFormat;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * The prompts of one data set: read, filtered, worded, split, ordered.
 *
 * @param verifiers verifier of each source; more than one where rows name their own
 */
record LoadedSet(
    List<Prompt> train,
    List<Prompt> heldOut,
    Map<String, String> verifiers,
    String characters,
    SourceReport report) {
  LoadedSet {
    train = List.copyOf(train);
    heldOut = List.copyOf(heldOut);
    verifiers = Map.copyOf(verifiers);
  }

  /**
   * Loads a set.
   *
   * @throws BadTaskData if its data are missing or bad, or nothing is left to train on
   */
  static LoadedSet load(SetSettings settings) throws IOException {
    return new Loading(settings).load();
  }

  /** Everything a file holds. */
  private record Contents(List<Item> items, int rows, Map<String, Integer> skipped) {}

  /** The steps from rows to prompts, and what each of them leaves out. */
  private static final class Loading {
    private final SetSettings settings;
    private final Map<String, String> verifiers = new TreeMap<>();
    private SourceReport report = new SourceReport(0, Map.of(), List.of());
    private String characters = "";

    Loading(SetSettings settings) {
      this.settings = settings;
    }

    LoadedSet load() throws IOException {
      Contents contents = contents();
      report = new SourceReport(contents.rows(), contents.skipped(), List.of());
      List<Prompt> all = prompts(contents.items(), settings.facets(), true);
      if (all.isEmpty()) {
        throw nothingLeft(contents);
      }
      List<Prompt> train = new ArrayList<>();
      List<Prompt> heldOut = new ArrayList<>();
      switch (settings.heldOut()) {
        case HeldOut.Share(double share, long seed) -> {
          boolean cutFirst = !(settings.order() instanceof Ordering.Listed);
          PromptSets sets = PromptSets.split(cutFirst ? first(all) : all, share, seed);
          train.addAll(sets.train());
          heldOut.addAll(sets.heldOut());
        }
        case HeldOut.OtherFiles(List<Path> files, var facets) -> {
          train.addAll(first(all));
          heldOut.addAll(first(prompts(others(files).items(), facets, false)));
        }
      }
      return new LoadedSet(ordered(train, heldOut), heldOut, verifiers, characters, report);
    }

    private Contents contents() throws IOException {
      return switch (settings.rows()) {
        case Rows.Files(var files, var format, var prefix) -> read(files, format.create(prefix));
        case Rows.Calculated(ArithmeticSettings arithmetic) -> {
          ArithmeticPrompts made = new ArithmeticPrompts(arithmetic);
          characters = made.alphabet();
          yield new Contents(made.items(), made.items().size(), Map.of());
        }
      };
    }

    private Contents others(List<Path> files) throws IOException {
      if (settings.rows() instanceof Rows.Files own) {
        return read(files, own.format().create(own.idPrefix() + "heldout_"));
      }
      throw new IllegalArgumentException("calculated prompts have no files");
    }

    private static Contents read(List<Path> files, RowFormat format) throws IOException {
      List<Item> items = new ArrayList<>();
      Map<String, Integer> skipped = new TreeMap<>();
      Map<String, String> places = new HashMap<>();
      int[] rows = {0};
      RowFiles.read(
          files,
          row -> {
            rows[0]++;
            switch (format.read(row)) {
              case Reading.Skipped(String reason) -> skipped.merge(reason, 1, Integer::sum);
              case Reading.Taken(Item item) -> {
                refuseTwice(item, row, places);
                items.add(worded(item, row));
              }
            }
          });
      return new Contents(items, rows[0], skipped);
    }

    private static void refuseTwice(Item item, Row row, Map<String, String> places) throws BadRow {
      String earlier = places.putIfAbsent(item.id(), row.place());
      if (earlier != null) {
        throw new BadRow("ids are unique, but %s has it too".formatted(earlier), item.id());
      }
    }

    private static Item worded(Item item, Row row) throws BadRow {
      return item.worded(row.textOrEmpty("system_prompt"), row.textOrEmpty("assistant_prefix"));
    }

    /** Worded prompts of the items that pass facets and lengths. */
    private List<Prompt> prompts(
        List<Item> items, Map<String, List<String>> facets, boolean counted) {
      List<Item> kept = items.stream().filter(item -> passes(item, facets)).toList();
      Cut cut = settings.cut();
      List<Prompt> prompts =
          kept.stream()
              .map(this::prompt)
              .filter(p -> p.text().length() <= cut.promptCharacters())
              .filter(p -> p.solution().length() <= cut.solutionCharacters())
              .toList();
      if (counted) {
        report =
            report
                .leaving("filtered out", items.size() - kept.size())
                .leaving("too long", kept.size() - prompts.size());
      }
      return prompts;
    }

    private static boolean passes(Item item, Map<String, List<String>> facets) {
      return facets.entrySet().stream()
          .allMatch(
              facet -> facet.getValue().contains(item.facets().getOrDefault(facet.getKey(), "")));
    }

    private Prompt prompt(Item item) {
      String source = settings.source();
      String verifier = settings.verifier();
      if (!item.verifier().isEmpty()) {
        source = source + "/" + item.verifier();
        verifier = item.verifier();
      }
      verifiers.put(source, verifier);
      return new Prompt(
          new PromptId(settings.alias().isEmpty() ? item.id() : settings.alias() + "/" + item.id()),
          source,
          settings.wording().text(item),
          item.answer(),
          settings.wording().solution(item));
    }

    private List<Prompt> first(List<Prompt> prompts) {
      int most = Math.min(settings.cut().prompts(), prompts.size());
      return settings.order() instanceof Ordering.Listed ? prompts : prompts.subList(0, most);
    }

    private List<Prompt> ordered(List<Prompt> train, List<Prompt> heldOut) {
      return switch (settings.order()) {
        case Ordering.Natural _ -> train;
        case Ordering.Shuffled(long seed) -> Mixing.shuffled(train, seed);
        case Ordering.Listed listed -> {
          Curriculum.Applied applied = Curriculum.apply(listed, settings.alias(), train, heldOut);
          report =
              report
                  .leaving("not in the order file", train.size() - applied.prompts().size())
                  .missing(applied.unmatched());
          yield applied.prompts().stream().limit(settings.cut().prompts()).toList();
        }
      };
    }

    private BadTaskData nothingLeft(Contents contents) {
      String where =
          settings.rows() instanceof Rows.Files own
              ? String.valueOf(own.files().getFirst())
              : settings.source();
      Cut cut = settings.cut();
      boolean onlyLengths = contents.items().stream().anyMatch(i -> passes(i, settings.facets()));
      return new BadTaskData(
          onlyLengths
              ? ("%s: none of its %d rows has a prompt of at most %d and a solution of at most %d"
                      + " characters; raise the limits")
                  .formatted(
                      where, contents.rows(), cut.promptCharacters(), cut.solutionCharacters())
              : "%s: the filters %s leave none of its %d rows; there are %s"
                  .formatted(
                      where,
                      new TreeMap<>(settings.facets()),
                      contents.rows(),
                      values(contents.items())));
    }

    private static Map<String, List<String>> values(List<Item> items) {
      Map<String, List<String>> values = new TreeMap<>();
      for (Item item : items) {
        item.facets()
            .forEach(
                (facet, value) -> {
                  List<String> known = values.computeIfAbsent(facet, _ -> new ArrayList<>());
                  if (!known.contains(value)) {
                    known.add(value);
                  }
                });
      }
      values.values().forEach(list -> list.sort(null));
      return values;
    }
  }
}
