package io.troupe.store.file;

import com.fasterxml.jackson.databind.JsonNode;
import java.nio.file.Path;

/**
 * The versions of the formats of a run's files: each file says its own, and a file that says none
 * is of version 0. This program reads one version of each.
 */
public final class FormatVersions {
  private FormatVersions() {}

  /** Refuses a file of another format. */
  public static void check(Path file, JsonNode json, int reads, String remedy)
      throws FormatException {
    JsonNode format = json.path("format");
    if (format.isMissingNode() || !format.canConvertToInt() || format.intValue() != reads) {
      throw other(file.toString(), format.isMissingNode() ? "0" : format.asText(), reads, remedy);
    }
  }

  /**
   * Returns the exception about a file whose format this program does not read.
   *
   * @param what names the file, and the place in it
   * @param format format that the file names
   * @param reads the format this program reads
   * @param remedy next step, as an order
   */
  public static FormatException other(String what, String format, int reads, String remedy) {
    return new FormatException(
        "%s has format %s, and this version of Troupe reads format %d; %s"
            .formatted(what, format, reads, remedy));
  }

  /** A number that must be there. */
  public static Number number(Path file, JsonNode json, String name) throws FormatException {
    JsonNode value = json.path(name);
    if (!value.canConvertToLong() || !value.isIntegralNumber()) {
      throw new FormatException(
          "%s is damaged: \"%s\" is no whole number; restore the file from a copy"
              .formatted(file, name));
    }
    return value.longValue();
  }
}
