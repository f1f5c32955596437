package io.troupe.tasks.rows;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonMappingException;
import com.fasterxml.jackson.databind.MappingIterator;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.fasterxml.jackson.dataformat.csv.CsvMapper;
import com.fasterxml.jackson.dataformat.csv.CsvParser;
import com.fasterxml.jackson.dataformat.csv.CsvSchema;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.io.Reader;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/**
 * Rows of CSV and TSV files: the first line names the columns, every value is text, an absent value
 * is empty text. Values in quotes may hold separators, line ends and doubled quotes; empty lines
 * are skipped.
 */
final class CsvRows {
  private static final CsvMapper MAPPER =
      CsvMapper.builder()
          .enable(CsvParser.Feature.WRAP_AS_ARRAY)
          .enable(CsvParser.Feature.SKIP_EMPTY_LINES)
          .build();

  private CsvRows() {}

  /** Reads all rows. */
  static void read(Path file, InputStream in, char separator, RowFiles rows) throws IOException {
    Reader text = new InputStreamReader(in, StandardCharsets.UTF_8.newDecoder());
    CsvSchema schema = CsvSchema.emptySchema().withColumnSeparator(separator);
    try (MappingIterator<String[]> lines =
        MAPPER.readerFor(String[].class).with(schema).readValues(text)) {
      if (!lines.hasNextValue()) {
        return;
      }
      List<String> names = names(file, lines.nextValue());
      while (lines.hasNextValue()) {
        int line =
            lines.getParser().currentTokenLocation().getLineNr() + 1; // the row before ends there
        row("%s:%d".formatted(file, line), names, lines.nextValue(), rows);
      }
    } catch (JsonMappingException carrier) {
      if (carrier.getCause() instanceof IOException damage) {
        throw bad(file, damage);
      }
      throw bad(file, carrier);
    } catch (JsonProcessingException | CharacterCodingException damage) {
      throw bad(file, damage);
    }
  }

  /**
   * Returns the refusal of a broken file; failures of the disk or of the packing stay what they
   * are.
   */
  private static TaskDataException bad(Path file, IOException damage) throws IOException {
    if (damage instanceof CharacterCodingException) {
      return new TaskDataException(file + ": a CSV file is UTF-8 text, and this one is not");
    }
    if (!(damage instanceof JsonProcessingException broken)) {
      throw damage;
    }
    return new TaskDataException(
        "%s:%d: the file must be CSV (%s); correct the line or fetch the file again"
            .formatted(
                file,
                broken.getLocation() == null ? 1 : broken.getLocation().getLineNr(),
                broken.getOriginalMessage()));
  }

  private static List<String> names(Path file, String[] header) {
    Set<String> names = new HashSet<>();
    for (String name : header) {
      if (name.isBlank() && header.length == 1) {
        throw new TaskDataException(
            file + ":1: the first line of a CSV file names the columns, and it is blank");
      }
      if (!names.add(name)) {
        throw new TaskDataException(
            "%s:1: the columns of a CSV file have different names, and \"%s\" is there twice"
                .formatted(file, name));
      }
    }
    return List.of(header);
  }

  private static void row(String place, List<String> names, String[] values, RowFiles rows) {
    if (values.length != names.size()) {
      rows.breach(
          place,
          "a row has one value for each of the %d columns, and this one has %d"
              .formatted(names.size(), values.length));
      return;
    }
    ObjectNode fields = RowJson.object();
    for (int i = 0; i < values.length; i++) {
      fields.put(names.get(i), values[i]);
    }
    rows.row(place, fields);
  }
}
