package io.troupe.run.task;

import io.troupe.chat.ChatTemplate;
import io.troupe.config.rollout.VerifierSection;
import io.troupe.config.task.DataKeys;
import io.troupe.config.task.DataSection;
import io.troupe.config.task.DataSetSection;
import io.troupe.config.task.PromptKeys;
import io.troupe.config.task.TaskSection;
import io.troupe.core.reward.JudgedBy;
import io.troupe.tasks.ArithmeticSettings;
import io.troupe.tasks.Curriculum;
import io.troupe.tasks.DataSetSettings;
import io.troupe.tasks.DataSetSettings.HeldOut;
import io.troupe.tasks.DataSetSettings.LengthLimits;
import io.troupe.tasks.DataSetSettings.Ordering;
import io.troupe.tasks.DataSetSettings.Rows;
import io.troupe.tasks.DataSetTask;
import io.troupe.tasks.PromptTemplate;
import io.troupe.tasks.RowKeeping;
import io.troupe.tasks.SourceLimits;
import io.troupe.tasks.sets.DataItem;
import io.troupe.tasks.sets.DataSet;
import io.troupe.tasks.sets.FieldColumns;
import io.troupe.tasks.sets.FieldRows;
import io.troupe.tasks.sets.RowFormat;
import io.troupe.verifiers.VerifierProvider;
import io.troupe.verifiers.VerifierSpec;
import io.troupe.verifiers.Verifiers;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.stream.Stream;

/**
 * Makes the task that a configuration describes.
 *
 * @param task the described task
 * @param files place of data
 * @param seed of the run
 * @param template of the policy, for prompts that are chats
 * @param keeping whose prompts keep their rows
 */
public record TaskLoader(
    TaskSection task, TaskFiles files, long seed, ChatTemplate template, RowKeeping keeping) {
  /** The verifier of task folders. */
  public static final String HARBOR = "harbor";

  /**
   * A loader whose files come from where {@code data} says, for prompts whose rows nothing reads.
   */
  public static TaskLoader of(
      TaskSection task, DataSection data, long seed, ChatTemplate template) {
    return new TaskLoader(task, TaskFiles.of(data), seed, template, RowKeeping.NONE);
  }

  /** Returns this loader for prompts that these verifiers judge. */
  public TaskLoader judgedBy(VerifierSection verifiers) {
    return new TaskLoader(task, files, seed, template, VerifierPools.keeping(verifiers));
  }

  /**
   * Loads all prompts.
   *
   * @throws IOException if data cannot be read
   * @throws io.troupe.tasks.rows.TaskDataException if they are missing or bad; says where and what
   */
  public DataSetTask load() throws IOException {
    return switch (task) {
      case DataSetSection section -> DataSetTask.single(settings(section, false));
      case TaskSection.Mixture mixture -> {
        List<DataSetSettings> sets = new ArrayList<>();
        for (DataSetSection each : mixture.datasets()) {
          sets.add(settings(each, mixture.shuffle()));
        }
        yield DataSetTask.mixture(
            sets,
            switch (mixture.mode()) {
              case WEIGHTED -> new DataSetTask.Mix.Weighted(seed);
              case SEQUENTIAL -> new DataSetTask.Mix.Sequential();
            });
      }
    };
  }

  /** The verifier of each source of the loaded task. */
  public Map<String, VerifierSpec> verifiers(DataSetTask loaded) {
    Map<String, VerifierSpec> specs = new LinkedHashMap<>();
    loaded
        .sources()
        .forEach(source -> specs.put(source.name(), VerifierSpec.named(source.verifier())));
    sections()
        .forEach(
            section -> specs.computeIfPresent(section.source(), (_, spec) -> spec(section, spec)));
    return specs;
  }

  private Stream<DataSetSection> sections() {
    return switch (task) {
      case DataSetSection section -> Stream.of(section);
      case TaskSection.Mixture mixture -> mixture.datasets().stream();
    };
  }

  private static VerifierSpec spec(DataSetSection section, VerifierSpec plain) {
    return switch (section) {
      case DataSetSection.Arithmetic arithmetic -> {
        ArithmeticSettings settings = arithmetic.settings();
        Map<String, String> options =
            Map.of(
                "padded", Boolean.toString(settings.padded()),
                "reversed", Boolean.toString(settings.reversed()));
        yield new VerifierSpec(plain.name(), options, plain.plugins());
      }
      case DataSetSection.Gsm8k gsm8k ->
          new VerifierSpec(
              plain.name(),
              Map.of("mode", gsm8k.verifierMode().name().toLowerCase(Locale.ROOT)),
              plain.plugins());
      case DataSetSection.Harbor _, DataSetSection.OfFiles _ -> plain;
    };
  }

  private DataSetSettings settings(DataSetSection section, boolean shuffle) throws IOException {
    Ordering order =
        section.mix().order().isEmpty()
            ? shuffle ? new Ordering.Shuffled(seed) : new Ordering.Natural()
            : order(section);
    return switch (section) {
      case DataSetSection.Arithmetic arithmetic ->
          unfiled(
              arithmetic,
              "numeric",
              new Rows.Calculated(arithmetic.settings()),
              arithmetic.heldOutShare(),
              order);
      case DataSetSection.Harbor harbor ->
          unfiled(
              harbor,
              HARBOR,
              new Rows.Folders(harbor.folder(), harbor.imitateSolutions()),
              harbor.heldOutShare(),
              order);
      case DataSetSection.OfFiles stored -> settings(stored, order);
    };
  }

  /** A data set whose rows are in no file of a format. */
  private DataSetSettings unfiled(
      DataSetSection section, String verifier, Rows rows, double heldOutShare, Ordering order)
      throws IOException {
    return new DataSetSettings(
        section.name(),
        section.mix().alias(),
        verifier,
        rows,
        new HeldOut.Share(heldOutShare, seed),
        Map.of(),
        LengthLimits.NONE,
        wording(section.prompts(), List.of()),
        limits(section.prompts(), List.of()),
        order,
        section.mix().weight());
  }

  private DataSetSettings settings(DataSetSection.OfFiles section, Ordering order)
      throws IOException {
    StoredSet set = StoredSet.of(section);
    DataKeys data = section.data();
    return new DataSetSettings(
        section.name(),
        section.mix().alias(),
        set.verifier(),
        new Rows.Files(
            files.rows(section, data.split()),
            set.format(),
            set.idPrefix(),
            data.refusals(),
            keeping),
        heldOut(section, set),
        set.facets(data.split()),
        data.cut(),
        wording(section.prompts(), examples(section, set)),
        limits(section.prompts(), set.stop()),
        order,
        section.mix().weight());
  }

  private HeldOut heldOut(DataSetSection.OfFiles section, StoredSet set) throws IOException {
    DataKeys data = section.data();
    if (!data.heldOutFile().isEmpty()) {
      return new HeldOut.OtherFiles(files.named(data.heldOutFile(), data.subset()), Map.of());
    }
    if (!data.heldOutSplit().isEmpty()) {
      return new HeldOut.OtherFiles(
          files.rows(section, data.heldOutSplit()), set.facets(data.heldOutSplit()));
    }
    return new HeldOut.Share(data.heldOutShare(), seed);
  }

  private Ordering order(DataSetSection section) throws IOException {
    String place = section.mix().order();
    return new Ordering.Listed(
        place, Curriculum.parse(place, files.text(place)), section.mix().orderUnmatchedShare());
  }

  private List<DataItem> examples(DataSetSection.OfFiles section, StoredSet set)
      throws IOException {
    PromptKeys prompts = section.prompts();
    return prompts.fewShot() == 0
        ? List.of()
        : DataSetSettings.examples(
            List.of(Path.of(prompts.fewShotFile())), set.format(), prompts.fewShot());
  }

  private PromptTemplate wording(PromptKeys prompts, List<DataItem> examples) throws IOException {
    boolean text = prompts.fewShot() == 0 && !prompts.fewShotFile().isEmpty();
    return new PromptTemplate(
        prompts.template(),
        prompts.systemPrompt(),
        prompts.assistantPrefix(),
        text ? files.text(prompts.fewShotFile()).strip() : "",
        examples,
        template);
  }

  private static SourceLimits limits(PromptKeys prompts, List<String> usual) {
    boolean own = prompts.ownStops() && prompts.template() == PromptTemplate.PromptForm.RAW;
    List<String> stop =
        Stream.concat(own ? usual.stream() : Stream.of(), prompts.stop().stream())
            .distinct()
            .toList();
    return new SourceLimits(prompts.maxCompletionTokens(), stop, Set.of());
  }

  /**
   * The data set that a section names.
   *
   * @param filters facets and the values kept, the split apart
   */
  private record StoredSet(
      String verifier,
      RowFormat.Factory format,
      String idPrefix,
      List<String> stop,
      Map<String, List<String>> filters) {
    static StoredSet of(DataSetSection.OfFiles section) {
      if (section instanceof DataSetSection.Jsonl own) {
        return new StoredSet(
            own.verifier(),
            _ ->
                new FieldRows(
                    new FieldColumns(
                        own.idField(),
                        own.question(),
                        own.answerField(),
                        own.solutionField(),
                        own.verifierField()),
                    row -> judgedBy(row.isEmpty() ? own.verifier() : row)),
            "",
            List.of(),
            Map.of());
      }
      DataSet set = DataSet.named(section.name()).orElseThrow();
      return new StoredSet(
          set.about().verifier(),
          set.format(),
          set.idPrefix(),
          set.answers().stop(),
          filters(section));
    }

    /** Returns what a verifier reads; one that only the run knows reads everything. */
    private static JudgedBy judgedBy(String verifier) {
      return Verifiers.with(List.of()).all().stream()
          .filter(each -> each.name().equals(verifier))
          .findFirst()
          .map(VerifierProvider::judgedBy)
          .orElseGet(JudgedBy.AllFields::new);
    }

    private static Map<String, List<String>> filters(DataSetSection.OfFiles section) {
      Map<String, List<String>> filters = new LinkedHashMap<>();
      switch (section) {
        case DataSetSection.Math math -> {
          keep(filters, "level", math.levels().stream().map(String::valueOf).toList());
          keep(filters, "subject", math.subjects());
        }
        case DataSetSection.Apps apps ->
            keep(
                filters,
                "difficulty",
                apps.difficulty().stream().map(d -> d.name().toLowerCase(Locale.ROOT)).toList());
        default -> {}
      }
      return filters;
    }

    private static void keep(Map<String, List<String>> filters, String facet, List<String> values) {
      if (!values.isEmpty()) {
        filters.put(facet, values);
      }
    }

    /** The filters, and for MBPP the split, which its task ids decide. */
    Map<String, List<String>> facets(String split) {
      if (!verifier.equals("mbpp") || split.equals("all") || idPrefix.isEmpty()) {
        return filters;
      }
      return Map.of("split", List.of(split));
    }
  }
}
