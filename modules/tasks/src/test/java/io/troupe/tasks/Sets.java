package io.troupe.tasks;

import io.troupe.core.prompt.Prompt;
import io.troupe.tasks.DataSetSettings.HeldOut;
import io.troupe.tasks.DataSetSettings.LengthLimits;
import io.troupe.tasks.DataSetSettings.Ordering;
import io.troupe.tasks.DataSetSettings.Rows;
import io.troupe.tasks.rows.RefusalLimit;
import io.troupe.tasks.sets.DataSet;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;

/** Settings of data sets for tests: everything, in the natural order, nothing held out. */
record Sets(DataSetSettings settings) {
  static Sets of(DataSet set, Path... files) {
    return of(
        set.key(),
        set.about().verifier(),
        new Rows.Files(List.of(files), set.format(), set.idPrefix(), RefusalLimit.NONE),
        new HeldOut.Share(0, 1));
  }

  static Sets arithmetic(ArithmeticSettings arithmetic, double heldOutShare, long seed) {
    return of(
        "arithmetic",
        "numeric",
        new Rows.Calculated(arithmetic),
        new HeldOut.Share(heldOutShare, seed));
  }

  private static Sets of(String key, String verifier, Rows rows, HeldOut heldOut) {
    return new Sets(
        new DataSetSettings(
            key,
            "",
            verifier,
            rows,
            heldOut,
            Map.of(),
            LengthLimits.NONE,
            PromptTemplate.PLAIN,
            SourceLimits.NONE,
            new Ordering.Natural(),
            1));
  }

  /** All pairs from 0 to {@code max} under addition, a fifth held out. */
  static Task addition(int max, long seed) {
    return arithmetic(
            new ArithmeticSettings(ArithmeticSettings.Operation.ADDITION, 0, max, false, false),
            0.2,
            seed)
        .unchecked();
  }

  Sets alias(String alias) {
    return with(alias, settings.heldOut(), settings.facets(), settings.cut());
  }

  Sets heldOut(HeldOut heldOut) {
    return with(settings.alias(), heldOut, settings.facets(), settings.cut());
  }

  Sets facets(Map<String, List<String>> facets) {
    return with(settings.alias(), settings.heldOut(), facets, settings.cut());
  }

  Sets cut(LengthLimits cut) {
    return with(settings.alias(), settings.heldOut(), settings.facets(), cut);
  }

  private Sets with(
      String alias, HeldOut heldOut, Map<String, List<String>> facets, LengthLimits cut) {
    return new Sets(
        new DataSetSettings(
            settings.name(),
            alias,
            settings.verifier(),
            settings.rows(),
            heldOut,
            facets,
            cut,
            settings.wording(),
            settings.limits(),
            settings.order(),
            settings.weight()));
  }

  Sets wording(PromptTemplate wording, SourceLimits limits) {
    return with(wording, limits, settings.order(), settings.weight());
  }

  Sets order(Ordering order, double weight) {
    return with(settings.wording(), settings.limits(), order, weight);
  }

  private Sets with(PromptTemplate wording, SourceLimits limits, Ordering order, double weight) {
    return new Sets(
        new DataSetSettings(
            settings.name(),
            settings.alias(),
            settings.verifier(),
            settings.rows(),
            settings.heldOut(),
            settings.facets(),
            settings.cut(),
            wording,
            limits,
            order,
            weight));
  }

  DataSetTask load() throws IOException {
    return DataSetTask.single(settings);
  }

  List<Prompt> prompts() throws IOException {
    return load().train();
  }

  private Task unchecked() {
    try {
      return load();
    } catch (IOException e) {
      throw new AssertionError("numbers are in no file", e);
    }
  }

  /** A file below {@code folder}. */
  static Path file(Path folder, String name, String content) throws IOException {
    Path file = folder.resolve(name);
    Files.createDirectories(file.getParent());
    return Files.writeString(file, content);
  }
}
