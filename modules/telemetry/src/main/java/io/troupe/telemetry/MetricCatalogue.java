package io.troupe.telemetry;

import com.fasterxml.jackson.databind.node.NullNode;
import java.lang.reflect.Method;
import java.lang.reflect.RecordComponent;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.TreeMap;
import java.util.stream.Stream;

/** The definitions of all metrics of a row, read from its components: one source for the docs. */
public final class MetricCatalogue {
  /**
   * One metric.
   *
   * @param name key of the metric in JSON
   * @param unit "" for a word
   * @param meaning measured quantity, and the steps or tokens that it is over
   * @param reading meaning of a high value, and when to act
   * @param column header on the training screen; "" when the metric is in metrics.jsonl only
   */
  public record Metric(String name, String unit, String meaning, String reading, String column) {}

  private record Entry(Metric metric, Method accessor) {
    Object of(Record row) {
      try {
        return accessor.invoke(row);
      } catch (ReflectiveOperationException impossible) {
        throw new IllegalStateException("a public record's accessors are public", impossible);
      }
    }
  }

  /** Before the names of evaluations; no metric's name begins so. */
  private static final String EVALUATION = "eval_";

  private static final List<Entry> ROW = entries(StepRow.class);
  private static final List<Entry> TRAINING = entries(StepRow.Training.class);
  private static final List<Entry> EPISODES = entries(StepRow.Episodes.class);

  private MetricCatalogue() {}

  /** Returns all metrics, in the order of a row. */
  public static List<Metric> metrics() {
    return Stream.of(ROW, TRAINING, EPISODES).flatMap(List::stream).map(Entry::metric).toList();
  }

  /** A row's values by name: absent values left out, numbers that are not finite as null. */
  static Map<String, Object> valuesOf(StepRow row) {
    Map<String, Object> values = new LinkedHashMap<>();
    add(values, ROW, row);
    row.evaluations().forEach((name, value) -> values.put(EVALUATION + name, finite(value)));
    row.training().ifPresent(training -> add(values, TRAINING, training));
    row.episodes().ifPresent(episodes -> add(values, EPISODES, episodes));
    return Collections.unmodifiableMap(values);
  }

  /**
   * The row of these values, as read from JSON; null is not a number.
   *
   * @throws IllegalArgumentException if a metric is missing, or is of another kind
   */
  static StepRow rowOf(Map<String, ?> values) {
    Map<String, Double> evaluations = new TreeMap<>();
    values.forEach(
        (name, value) -> {
          if (name.startsWith(EVALUATION)) {
            evaluations.put(
                name.substring(EVALUATION.length()),
                value instanceof Number number ? number.doubleValue() : Double.NaN);
          }
        });
    return record(
        StepRow.class,
        values,
        List.of(
            evaluations,
            part(StepRow.Training.class, TRAINING, values),
            part(StepRow.Episodes.class, EPISODES, values)));
  }

  private static <T extends Record> Optional<T> part(
      Class<T> type, List<Entry> entries, Map<String, ?> values) {
    return values.containsKey(entries.getFirst().metric().name())
        ? Optional.of(record(type, values, List.of()))
        : Optional.empty();
  }

  private static <T extends Record> T record(
      Class<T> type, Map<String, ?> values, List<?> unmeasured) {
    Iterator<?> others = unmeasured.iterator();
    List<Object> arguments = new ArrayList<>();
    List<Class<?>> types = new ArrayList<>();
    for (RecordComponent component : type.getRecordComponents()) {
      types.add(component.getType());
      arguments.add(
          component.isAnnotationPresent(MetricDefinition.class)
              ? argument(component.getType(), snakeCase(component.getName()), values)
              : others.next());
    }
    try {
      return type.getConstructor(types.toArray(Class<?>[]::new)).newInstance(arguments.toArray());
    } catch (ReflectiveOperationException impossible) {
      throw new IllegalStateException("a public record can be made", impossible);
    }
  }

  private static Object argument(Class<?> type, String name, Map<String, ?> values) {
    if (type == OptionalDouble.class && !values.containsKey(name)) {
      return OptionalDouble.empty();
    }
    if (!values.containsKey(name)) {
      throw new IllegalArgumentException("%s is missing".formatted(name));
    }
    Object value = values.get(name);
    if (type == String.class && value instanceof String word) {
      return word;
    }
    if (type == long.class && value instanceof Number number) {
      return number.longValue();
    }
    double number = value instanceof Number finite ? finite.doubleValue() : Double.NaN;
    if (value == null || value instanceof Number) {
      if (type == double.class) {
        return number;
      }
      if (type == OptionalDouble.class) {
        return OptionalDouble.of(number);
      }
    }
    throw new IllegalArgumentException("%s is no %s: %s".formatted(name, type, value));
  }

  /** The page docs/metrics.md. */
  public static String markdown() {
    List<String> lines = new ArrayList<>();
    lines.add("# Metrics");
    lines.add("");
    lines.add(
        "One row a step: on the training screen (the columns named here), with `--json` on standard"
            + " output, and in the run folder's `metrics.jsonl`. `eval` is absent when no"
            + " evaluation ran; `eval_NAME`, from 0 to 1, is the share of answers of the"
            + " evaluation NAME under `evaluations` that pass, where it ran; `eval_reward` and"
            + " `eval_NAME_reward` are the mean rewards of their answers, where one that passes"
            + " has another than 1, or one that does not another than 0. What passes is"
            + " `verifier.pass_reward`'s to say. Row 0, before any step, has"
            + " `step`, `seconds` and evaluations only; a row has the metrics of episodes, those"
            + " whose names begin with `episode_`, if the groups scored since the last step had"
            + " turns with tools, or agents. A"
            + " number that is not finite is `null` in JSON."
            + " \"Since the last step\" means between the end of the step before and the end of"
            + " this one.");
    lines.add("");
    lines.add("| name | column | unit | meaning | reading |");
    lines.add("|---|---|---|---|---|");
    for (Metric metric : metrics()) {
      lines.add(
          "| `%s` | %s | %s | %s | %s |"
              .formatted(
                  metric.name(),
                  metric.column(),
                  metric.unit(),
                  metric.meaning().replace("|", "\\|"),
                  metric.reading().replace("|", "\\|")));
    }
    return String.join("\n", lines) + "\n";
  }

  private static List<Entry> entries(Class<? extends Record> row) {
    List<Entry> entries = new ArrayList<>();
    for (RecordComponent component : row.getRecordComponents()) {
      Optional.ofNullable(component.getAnnotation(MetricDefinition.class))
          .ifPresent(
              measure ->
                  entries.add(
                      new Entry(
                          new Metric(
                              snakeCase(component.getName()),
                              measure.unit(),
                              measure.meaning(),
                              measure.reading(),
                              measure.column()),
                          component.getAccessor())));
    }
    return List.copyOf(entries);
  }

  private static void add(Map<String, Object> values, List<Entry> entries, Record row) {
    for (Entry entry : entries) {
      String name = entry.metric().name();
      switch (entry.of(row)) {
        case OptionalDouble optional -> optional.ifPresent(x -> values.put(name, finite(x)));
        case Double number -> values.put(name, finite(number));
        case Object other -> values.put(name, other);
      }
    }
  }

  private static Object finite(double number) {
    return Double.isFinite(number) ? number : NullNode.getInstance();
  }

  private static String snakeCase(String name) {
    return name.replaceAll("([A-Z])", "_$1").toLowerCase(Locale.ROOT);
  }
}
