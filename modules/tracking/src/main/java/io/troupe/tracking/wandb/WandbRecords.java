package io.troupe.tracking.wandb;

import com.fasterxml.jackson.core.JsonProcessingException;
import io.troupe.store.file.StoreJson;
import io.troupe.telemetry.export.ProtobufMessage;
import io.troupe.tracking.feed.RunFacts;
import io.troupe.tracking.feed.SystemSample;
import io.troupe.tracking.feed.SystemSample.GpuSample;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.regex.Pattern;

/**
 * The records of an offline run of Weights and Biases: the messages of {@code
 * wandb_internal.proto}, of which only the fields that a run here has are written.
 */
final class WandbRecords {
  private static final Pattern INTEGER = Pattern.compile("-?(0|[1-9]\\d{0,17})");
  private static final Pattern DECIMAL =
      Pattern.compile("-?(0|[1-9]\\d*)(\\.\\d+)?([eE][-+]?\\d{1,3})?");
  private static final int MEDIA = 2;
  private static final double PERCENT = 100;
  private static final double GIBI = 1 << 30;
  private static final long MILLIS = 1000;

  private WandbRecords() {}

  /** The first record of a file: what wrote it, and which readers it is for. */
  static ProtobufMessage header(String version) {
    ProtobufMessage info = new ProtobufMessage().text(1, "troupe " + version).text(2, "0.13.0");
    return new ProtobufMessage().message(21, new ProtobufMessage().message(1, info));
  }

  /**
   * The run itself.
   *
   * @param id of the run, unique in its project
   */
  static ProtobufMessage run(String id, RunFacts facts) {
    ProtobufMessage config = new ProtobufMessage();
    facts.config().forEach((key, text) -> config.message(1, item(key, json(text))));
    facts.origin().forEach((key, text) -> config.message(1, item("origin." + key, quoted(text))));
    ProtobufMessage run =
        new ProtobufMessage()
            .text(1, id)
            .text(3, facts.project())
            .message(4, config)
            .text(8, facts.name())
            .text(13, facts.host())
            .message(17, time(facts.startedMillis()));
    if (!facts.commit().isEmpty()) {
      run.message(21, new ProtobufMessage().text(2, facts.commit()));
    }
    return new ProtobufMessage().message(17, run);
  }

  /**
   * A row of the run's history.
   *
   * @param values as JSON
   */
  static ProtobufMessage history(
      long step, long atMillis, long startedMillis, Map<String, String> values) {
    ProtobufMessage history = new ProtobufMessage();
    values.forEach((key, value) -> history.message(1, item(key, value)));
    history.message(1, item("_step", Long.toString(step)));
    history.message(1, item("_timestamp", seconds(atMillis)));
    history.message(1, item("_runtime", seconds(Math.max(0, atMillis - startedMillis))));
    history.message(2, new ProtobufMessage().varint(1, step));
    return new ProtobufMessage().message(2, history);
  }

  /** The last values of the run. */
  static ProtobufMessage summary(Map<String, String> values) {
    ProtobufMessage summary = new ProtobufMessage();
    values.forEach((key, value) -> summary.message(1, item(key, value)));
    return new ProtobufMessage().message(3, summary);
  }

  /** A sample of the host, by the names that the page of system metrics has. */
  static ProtobufMessage stats(SystemSample sample) {
    Map<String, Double> values = new LinkedHashMap<>();
    values.put("cpu", PERCENT * sample.cpu());
    values.put("memory_percent", PERCENT * sample.memoryUsed() / Math.max(1, sample.memoryTotal()));
    values.put("disk.free_gb", sample.diskFree() / GIBI);
    for (GpuSample gpu : sample.gpus()) {
      String name = "gpu.%d.".formatted(gpu.index());
      if (gpu.utilisation() >= 0) {
        values.put(name + "gpu", (double) gpu.utilisation());
      }
      values.put(
          name + "memoryAllocated", PERCENT * gpu.memoryUsed() / Math.max(1, gpu.memoryTotal()));
      values.put(name + "memoryAllocatedBytes", (double) gpu.memoryUsed());
    }
    ProtobufMessage stats = new ProtobufMessage().varint(1, 0).message(2, time(sample.at()));
    values.forEach((key, value) -> stats.message(3, item(key, Double.toString(value))));
    return new ProtobufMessage().message(7, stats);
  }

  /** A file of the run's {@code files/} that is to be uploaded. */
  static ProtobufMessage file(String path) {
    ProtobufMessage file = new ProtobufMessage().text(1, path).varint(2, 0).varint(3, MEDIA);
    return new ProtobufMessage().message(6, new ProtobufMessage().message(1, file));
  }

  /** The end of the run. */
  static ProtobufMessage exit(int code, long runtimeMillis) {
    return new ProtobufMessage()
        .message(18, new ProtobufMessage().varint(1, code).varint(2, runtimeMillis / MILLIS));
  }

  /** A text as JSON: numbers and truth values as such, all else as a string. */
  static String json(String text) {
    boolean plain =
        INTEGER.matcher(text).matches()
            || DECIMAL.matcher(text).matches()
            || text.equals("true")
            || text.equals("false");
    return plain ? text : quoted(text);
  }

  static String quoted(String text) {
    try {
      return StoreJson.LINE.writeValueAsString(text);
    } catch (JsonProcessingException impossible) {
      throw new IllegalStateException("a text is JSON", impossible);
    }
  }

  private static String seconds(long millis) {
    return Double.toString(millis / (double) MILLIS);
  }

  private static ProtobufMessage time(long millis) {
    return new ProtobufMessage().varint(1, millis / MILLIS).varint(2, millis % MILLIS * 1_000_000);
  }

  private static ProtobufMessage item(String key, String json) {
    return new ProtobufMessage().text(1, key).text(16, json);
  }
}
