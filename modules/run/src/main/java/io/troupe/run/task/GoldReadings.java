package io.troupe.run.task;

import io.troupe.core.prompt.Prompt;
import io.troupe.tasks.Task;
import io.troupe.tasks.TaskSource;
import io.troupe.verifiers.Excerpt;
import io.troupe.verifiers.GoldReading;
import io.troupe.verifiers.VerifierProvider;
import io.troupe.verifiers.Verifiers;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.function.Function;
import java.util.stream.Stream;

/**
 * The count of expected answers that a verifier of mathematics does not read as mathematics and
 * compares as text: a right answer in another notation earns nothing there.
 */
final class GoldReadings {
  /** Answers that are read; more cost time before a run and tell little more. */
  private static final int MOST_READ = 10_000;

  private static final int SHOWN = 3;

  private GoldReadings() {}

  /** The verifiers of these names; a name that is no verifier's is checked elsewhere. */
  static List<VerifierProvider> named(Stream<String> names, List<Path> plugins) {
    List<VerifierProvider> known = Verifiers.with(plugins).all();
    return names.flatMap(name -> known.stream().filter(one -> one.name().equals(name))).toList();
  }

  /** Returns a line for each source that has such answers. */
  static Stream<String> lines(Task task, Function<TaskSource, List<VerifierProvider>> judges) {
    return task.sources().stream().flatMap(source -> line(task, source, judges.apply(source)));
  }

  private static Stream<String> line(Task task, TaskSource source, List<VerifierProvider> judges) {
    int read = 0;
    int asText = 0;
    List<String> shown = new ArrayList<>();
    for (Prompt prompt : prompts(task, source)) {
      Optional<GoldReading> reading =
          judges.stream().flatMap(one -> one.goldReading(prompt.answer()).stream()).findFirst();
      if (reading.isEmpty()) {
        return Stream.empty();
      }
      read++;
      if (reading.get() == GoldReading.TEXT) {
        asText++;
        if (shown.size() < SHOWN) {
          shown.add("%s: %s".formatted(prompt.id(), Excerpt.of(prompt.answer())));
        }
      }
    }
    return asText == 0
        ? Stream.empty()
        : Stream.of(
            String.format(
                Locale.ROOT,
                "%s: %,d of %,d expected answers are not read as mathematics and are compared as"
                    + " text, words aside, such as %s",
                source.name(),
                asText,
                read,
                String.join("; ", shown)));
  }

  private static List<Prompt> prompts(Task task, TaskSource source) {
    return Stream.concat(task.train().stream(), task.heldOut().stream())
        .filter(prompt -> prompt.source().equals(source.name()))
        .limit(MOST_READ)
        .toList();
  }
}
