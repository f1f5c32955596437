package io.troupe.verifiers.instructions;

import io.troupe.verifiers.python.PythonLiteralReader;
import io.troupe.verifiers.python.PythonValue;
import io.troupe.verifiers.python.PythonValue.Items;
import io.troupe.verifiers.python.PythonValue.Text;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.zip.GZIPInputStream;

/** Test data in compressed JSON lines. */
public final class GoldenFile {
  private GoldenFile() {}

  /** The values of a resource beside a class, one a line. */
  public static List<PythonValue> lines(Class<?> beside, String name) {
    try (InputStream in = beside.getResourceAsStream(name);
        BufferedReader reader =
            new BufferedReader(
                new InputStreamReader(
                    name.endsWith(".gz") ? new GZIPInputStream(in) : in, StandardCharsets.UTF_8))) {
      return reader
          .lines()
          .filter(line -> !line.isBlank())
          .map(line -> PythonLiteralReader.json(line).orElseThrow(() -> new AssertionError(line)))
          .toList();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** A text field. */
  public static String text(PythonValue line, String field) {
    return text(line.get(field).orElseThrow());
  }

  /** A field that lists texts. */
  public static List<String> texts(PythonValue line, String field) {
    return ((Items) line.get(field).orElseThrow()).values().stream().map(GoldenFile::text).toList();
  }

  private static String text(PythonValue value) {
    return ((Text) value).value();
  }
}
