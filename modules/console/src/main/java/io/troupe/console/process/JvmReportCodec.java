package io.troupe.console.process;

import com.fasterxml.jackson.core.type.TypeReference;
import io.troupe.console.http.ConsoleJson;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.zip.GZIPInputStream;
import java.util.zip.GZIPOutputStream;

/**
 * The reports that processes send to each other, packed to fit into one message. What would not fit
 * loses its least important part: the thinnest frames, the last threads, the idlest actors.
 */
public final class JvmReportCodec {
  /** Most bytes of an answer: most of what travels in one message beside leases and heartbeats. */
  public static final int MAX_BYTES = 128 << 10;

  private static final int MAX_UNPACKED = 16 << 20;
  private static final String CUT = "\n… cut: the rest does not fit into a message\n";

  private JvmReportCodec() {}

  /** Packs a report. */
  public static byte[] pack(JvmReport report) {
    byte[] all = zip(ConsoleJson.bytes(report));
    return all.length <= MAX_BYTES
        ? all
        : zip(ConsoleJson.bytes(busiest(report, report.actors().size() / 2)));
  }

  private static JvmReport busiest(JvmReport report, int most) {
    JvmReport cut =
        new JvmReport(
            report.jvm(),
            report.role(),
            report.node(),
            report.gauges(),
            report.gpus(),
            report.verifiers(),
            report.actors().stream()
                .sorted((a, b) -> Long.compare(b.handled(), a.handled()))
                .limit(most)
                .toList(),
            report.heldTurns());
    return most > 1 && zip(ConsoleJson.bytes(cut)).length > MAX_BYTES
        ? busiest(report, most / 2)
        : cut;
  }

  /** Packs a thread dump. */
  public static byte[] pack(String threads) {
    byte[] all = zip(threads.getBytes(StandardCharsets.UTF_8));
    return all.length <= MAX_BYTES
        ? all
        : pack(threads.substring(0, threads.length() * 3 / 4 - CUT.length()) + CUT);
  }

  /** Packs a flame graph. */
  public static byte[] pack(FlameFrame flame) {
    long least = 1;
    byte[] all = zip(ConsoleJson.bytes(flame));
    while (all.length > MAX_BYTES) {
      least *= 2;
      all = zip(ConsoleJson.bytes(flame.without(least)));
    }
    return all;
  }

  /** Unpacks a report. */
  public static JvmReport report(byte[] packed) throws IOException {
    return ConsoleJson.MAPPER.readValue(unzip(packed), new TypeReference<>() {});
  }

  /** Unpacks a thread dump. */
  public static String threads(byte[] packed) throws IOException {
    return new String(unzip(packed), StandardCharsets.UTF_8);
  }

  /** Unpacks a flame graph. */
  public static FlameFrame flame(byte[] packed) throws IOException {
    return ConsoleJson.MAPPER.readValue(unzip(packed), new TypeReference<>() {});
  }

  private static byte[] zip(byte[] bytes) {
    ByteArrayOutputStream packed = new ByteArrayOutputStream();
    try (GZIPOutputStream out = new GZIPOutputStream(packed)) {
      out.write(bytes);
    } catch (IOException inMemory) {
      throw new UncheckedIOException(inMemory);
    }
    return packed.toByteArray();
  }

  private static byte[] unzip(byte[] packed) throws IOException {
    try (InputStream in = new GZIPInputStream(new ByteArrayInputStream(packed))) {
      byte[] bytes = in.readNBytes(MAX_UNPACKED + 1);
      if (bytes.length > MAX_UNPACKED) {
        throw new IOException("an answer unpacks to more than %d bytes".formatted(MAX_UNPACKED));
      }
      return bytes;
    }
  }
}
