package io.troupe.gym.factory;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.troupe.base.files.AtomicFile;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * Imports data sets of LLaMA-Factory as rows of Troupe and exports rows as such data sets.
 *
 * <p><b>Byte for byte.</b> An import keeps the text of every row, also of rows that it leaves out,
 * in {@code NAME.origin.json} beside the rows. An export of imported rows writes the text of each
 * unchanged row again and the text between the rows as it was; only changed rows are written new,
 * and rows that are gone are left out.
 */
public final class FactoryData {
  private static final ObjectMapper JSON = new ObjectMapper();
  private static final List<String> PROMPTS = List.of("instruction", "prompt");
  private static final List<String> RESPONSES = List.of("response", "completion", "output");

  private FactoryData() {}

  /**
   * The result of an import.
   *
   * @param left rows by the rule that they break
   */
  public record Imported(int rows, Map<String, Integer> left) {}

  /**
   * Imports a data set.
   *
   * @param folder LLaMA-Factory's {@code dataset_dir}
   * @param output the file of Troupe's rows; its origin goes beside it
   */
  public static Imported read(Path folder, String name, Path output) throws IOException {
    FactoryEntry entry = FactoryEntry.read(folder, name);
    FactoryText text = FactoryText.cut(entry.file().toString(), Files.readAllBytes(entry.file()));
    FactoryRows rows = new FactoryRows(entry);
    StringBuilder lines = new StringBuilder();
    Map<String, Integer> left = new TreeMap<>();
    ObjectNode origin = JSON.createObjectNode();
    origin.put("format", 1).put("name", name).put("file", entry.file().getFileName().toString());
    origin.put("index", Files.readString(folder.resolve(FactoryEntry.INDEX)));
    origin.put("tail", text.tail());
    var pieces = origin.putArray("rows");
    int taken = 0;
    for (int i = 0; i < text.rows().size(); i++) {
      FactoryText.Piece piece = text.rows().get(i);
      String id = name + "-" + i;
      ObjectNode kept = pieces.addObject();
      kept.put("id", id).put("gap", piece.gap()).put("row", piece.row());
      switch (rows.read(id, piece.json())) {
        case FactoryRows.Read.Taken(ObjectNode row) -> {
          lines.append(row).append('\n');
          kept.put("line", row.toString());
          taken++;
        }
        case FactoryRows.Read.Left(String rule) -> left.merge(rule, 1, Integer::sum);
      }
    }
    AtomicFile.replace(origin(output), origin.toString());
    AtomicFile.replace(output, lines.toString());
    return new Imported(taken, left);
  }

  /**
   * Exports rows into a folder that LLaMA-Factory reads as {@code dataset_dir}.
   *
   * @param input rows of Troupe: imported ones, training data of a gym, or any lines with a prompt
   *     and a response
   * @param name of the data set; that of the import where there was one
   * @return rows written
   */
  public static int write(Path input, Path folder, String name) throws IOException {
    List<JsonNode> rows = lines(input);
    if (rows.isEmpty()) {
      throw new IOException(
          "%s has no rows, and LLaMA-Factory fails on a data set without any".formatted(input));
    }
    Files.createDirectories(folder);
    if (Files.isRegularFile(origin(input))) {
      return writeAgain(JSON.readTree(Files.readAllBytes(origin(input))), rows, input, folder);
    }
    StringBuilder text = new StringBuilder();
    for (int i = 0; i < rows.size(); i++) {
      text.append(DumpedJson.text(alpaca(rows.get(i), input, i + 1))).append('\n');
    }
    AtomicFile.replace(folder.resolve(name + ".jsonl"), text.toString());
    AtomicFile.replace(folder.resolve(FactoryEntry.INDEX), FactoryEntry.index(name));
    return rows.size();
  }

  private static int writeAgain(JsonNode origin, List<JsonNode> rows, Path input, Path folder)
      throws IOException {
    Map<String, JsonNode> byId = new HashMap<>();
    rows.forEach(row -> byId.put(row.path("id").asText(), row));
    List<FactoryText.Piece> pieces = new ArrayList<>();
    int number = 0;
    for (JsonNode piece : origin.path("rows")) {
      number++;
      boolean left = !piece.has("line");
      JsonNode row = byId.remove(piece.path("id").asText());
      if (left || (row != null && row.toString().equals(piece.path("line").asText()))) {
        pieces.add(new FactoryText.Piece(piece.path("gap").asText(), piece.path("row").asText()));
      } else if (row != null) {
        pieces.add(
            new FactoryText.Piece(
                piece.path("gap").asText(), DumpedJson.text(alpaca(row, input, number))));
      }
    }
    if (!byId.isEmpty()) {
      throw new IOException(
          "%s has rows that the import did not have, such as %s; export new rows from a file of"
                  .formatted(input, byId.keySet().iterator().next())
              + " their own");
    }
    FactoryText text = new FactoryText(pieces, origin.path("tail").asText());
    AtomicFile.replace(folder.resolve(origin.path("file").asText()), text.joined());
    AtomicFile.replace(folder.resolve(FactoryEntry.INDEX), origin.path("index").asText());
    return pieces.size();
  }

  private static ObjectNode alpaca(JsonNode row, Path file, int line) throws IOException {
    ObjectNode alpaca = JSON.createObjectNode();
    alpaca.put("instruction", field(row, PROMPTS, file, line));
    alpaca.put("output", field(row, RESPONSES, file, line));
    return alpaca;
  }

  private static String field(JsonNode row, List<String> names, Path file, int line)
      throws IOException {
    for (String name : names) {
      if (row.path(name).isTextual()) {
        return row.path(name).textValue();
      }
    }
    throw new IOException(
        "%s, line %d has no text in %s; each row needs a prompt and a response"
            .formatted(file, line, String.join(" or ", names)));
  }

  private static List<JsonNode> lines(Path file) throws IOException {
    List<JsonNode> rows = new ArrayList<>();
    for (FactoryText.Piece piece :
        FactoryText.cut(file.toString(), Files.readAllBytes(file)).rows()) {
      rows.add(piece.json());
    }
    return rows;
  }

  private static Path origin(Path rows) {
    return rows.resolveSibling(rows.getFileName() + ".origin.json");
  }
}
