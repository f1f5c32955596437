package io.troupe.tasks.supervised;

import com.fasterxml.jackson.databind.JsonNode;
import io.troupe.tasks.rows.ChatMessages;
import io.troupe.tasks.rows.DeclaredTools;
import io.troupe.tasks.rows.RefusalLimit;
import io.troupe.tasks.rows.RefusedRows;
import io.troupe.tasks.rows.Row;
import io.troupe.tasks.rows.RowException;
import io.troupe.tasks.rows.RowFiles;
import io.troupe.tasks.rows.TaskDataException;
import io.troupe.tasks.supervised.SupervisedRow.Chat;
import io.troupe.tasks.supervised.SupervisedRow.Text;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Stream;

/**
 * The format of the rows of a supervised data set. A row with {@code messages} or, in ShareGPT's
 * form, {@code conversations} is a conversation, whose {@code tools} the template shows; any other
 * one has a prompt and a completion, each a text or a list of messages.
 *
 * @param messagesField field of a conversation
 * @param promptField field of a prompt
 * @param completionField field of a completion
 * @param sourceField field that says where a row comes from
 * @param chat whether texts are messages of a user and the assistant
 * @param sources that are taken; none takes all
 */
public record SupervisedFormat(
    String messagesField,
    String promptField,
    String completionField,
    String sourceField,
    boolean chat,
    Set<String> sources) {
  private static final String SHARED = "conversations";
  private static final String ARGUMENTS = "chat_template_kwargs";
  private static final List<String> IDS = List.of("id", "prompt_id");

  public SupervisedFormat {
    sources = Set.copyOf(sources);
  }

  /**
   * The place of a row.
   *
   * @param row file and line
   * @param field of the row that is imitated
   */
  record Origin(String row, String field) {}

  /**
   * The rows of files.
   *
   * @param place of the files
   * @param origins of the rows, by their ids
   * @param refused the rows that break a rule
   * @param limit of refused rows
   */
  public record ReadRows(
      String place,
      List<SupervisedRow> rows,
      Map<String, Origin> origins,
      RefusedRows refused,
      RefusalLimit limit) {
    public ReadRows {
      rows = List.copyOf(rows);
      origins = Map.copyOf(origins);
    }

    /**
     * Returns all refused rows.
     *
     * @param unread why a policy cannot read rows of these, by their ids
     * @throws TaskDataException if they are more than the limit allows
     */
    public RefusedRows refused(Map<String, String> unread) {
      Map<String, String> places = new LinkedHashMap<>();
      for (SupervisedRow row : rows) {
        Origin origin = origins.get(row.id());
        String why = unread.get(row.id());
        if (origin != null && why != null) {
          places.put(origin.row(), "\"%s\": %s".formatted(origin.field(), why));
        }
      }
      return refused.and(places).within(limit, place);
    }
  }

  /** Reads files of which every row must be right. */
  public List<SupervisedRow> read(List<Path> files) throws IOException {
    return read(files, RefusalLimit.NONE).rows();
  }

  /**
   * Reads files one after the other.
   *
   * @throws TaskDataException if more rows than the limit allows are bad or have the id of another,
   *     or no row has a source that is taken; names them
   */
  public ReadRows read(List<Path> files, RefusalLimit limit) throws IOException {
    List<SupervisedRow> rows = new ArrayList<>();
    Map<String, Origin> origins = new HashMap<>();
    Set<String> found = new TreeSet<>();
    RefusedRows refused =
        RowFiles.read(
            files,
            limit,
            row -> {
              String source = source(row);
              found.add(source);
              if (sources.isEmpty() || sources.contains(source)) {
                SupervisedRow read = row(row, source);
                if (origins.putIfAbsent(read.id(), new Origin(row.place(), field(row))) != null) {
                  throw row.bad("id", "must not occur twice");
                }
                rows.add(read);
              }
            });
    for (String wanted : sources) {
      if (!found.contains(wanted)) {
        throw new TaskDataException(
            "%s: no row has \"%s\": \"%s\", which sources asks for; there are %s"
                .formatted(files, sourceField, wanted, found));
      }
    }
    return new ReadRows(RowFiles.place(files), rows, origins, refused, limit);
  }

  /** The row's own field, or that of the problem it was made from. */
  private String source(Row row) throws RowException {
    return row.has(sourceField)
        ? row.scalar(sourceField)
        : row.fields().path("problem").path("dataset_name").asText("");
  }

  private static String id(Row row) throws RowException {
    for (String field : IDS) {
      if (row.has(field)) {
        return row.scalar(field);
      }
    }
    return "row_" + row.number();
  }

  /** Returns the field that holds what is imitated. */
  private String field(Row row) {
    return Stream.of(messagesField, SHARED).filter(row::has).findFirst().orElse(completionField);
  }

  private SupervisedRow row(Row row, String source) throws RowException {
    String field = field(row);
    if (!field.equals(completionField)) {
      ChatMessages.Conversation read = new ChatMessages(row, field).read();
      return conversation(row, source, read.messages(), 0, read.imitated(), field);
    }
    boolean listed = row.at(promptField).isArray() || row.at(completionField).isArray();
    if (!listed && !chat) {
      return new Text(id(row), source, row.text(promptField), completion(row));
    }
    List<Map<String, Object>> all = new ArrayList<>();
    if (row.at(promptField).isArray()) {
      all.addAll(new ChatMessages(row, promptField).read().messages());
    } else {
      all.add(Map.of("role", "user", "content", row.text(promptField)));
    }
    Set<Integer> imitated = new TreeSet<>();
    int from = all.size();
    if (row.at(completionField).isArray()) {
      ChatMessages.Conversation read = new ChatMessages(row, completionField).read();
      all.addAll(read.messages());
      read.imitated().forEach(i -> imitated.add(from + i));
    } else {
      all.add(Map.of("role", ChatMessages.ASSISTANT, "content", row.text(completionField)));
      imitated.add(from);
    }
    return conversation(row, source, all, from, imitated, completionField);
  }

  private String completion(Row row) throws RowException {
    if (!row.has(completionField)) {
      throw row.bad(completionField, "must be a string");
    }
    return row.textOrEmpty(completionField);
  }

  private SupervisedRow conversation(
      Row row,
      String source,
      List<Map<String, Object>> messages,
      int prompt,
      Set<Integer> imitated,
      String field)
      throws RowException {
    if (ChatMessages.ASSISTANT.equals(messages.getFirst().get("role"))) {
      throw row.bad(field, "must hold an answer of the assistant to a message");
    }
    if (imitated.isEmpty()) {
      throw row.bad(field, "must hold an answer of the assistant that is imitated");
    }
    List<Object> tools = DeclaredTools.of(row);
    Map<String, Object> arguments = new HashMap<>(templateArguments(row));
    if (!tools.isEmpty()) {
      arguments.put("tools", tools);
    }
    return new Chat(id(row), source, messages, prompt, arguments, imitated);
  }

  /** The variables that a row has for the template, as TRL takes them. */
  private static Map<String, Object> templateArguments(Row row) throws RowException {
    Map<String, Object> arguments = new HashMap<>();
    if (row.has(ARGUMENTS)) {
      for (Map.Entry<String, JsonNode> each : row.fields().path(ARGUMENTS).properties()) {
        JsonNode value = each.getValue();
        if (value.isBoolean() || value.isTextual()) {
          arguments.put(
              each.getKey(), value.isBoolean() ? (Object) value.asBoolean() : value.textValue());
        } else if (!value.isNull()) {
          throw row.bad(ARGUMENTS, "must hold texts, true and false");
        }
      }
    }
    return arguments;
  }
}
