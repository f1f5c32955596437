package io.troupe.tasks.supervised;

import com.fasterxml.jackson.databind.JsonNode;
import io.troupe.chat.ChatTemplate.Message;
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
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;

/**
 * The format of the rows of a supervised data set. A row with {@code messages} is a conversation;
 * any other one has a prompt and a completion, each a text or a list of messages.
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
  private static final String ASSISTANT = "assistant";
  private static final List<String> IDS = List.of("id", "prompt_id");

  public SupervisedFormat {
    sources = Set.copyOf(sources);
  }

  /**
   * The rows of files.
   *
   * @param refused the rows that break a rule
   */
  public record ReadRows(List<SupervisedRow> rows, RefusedRows refused) {
    public ReadRows {
      rows = List.copyOf(rows);
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
    Set<String> ids = new HashSet<>();
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
                if (!ids.add(read.id())) {
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
    return new ReadRows(rows, refused);
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

  private SupervisedRow row(Row row, String source) throws RowException {
    if (row.has(messagesField)) {
      List<Message> messages = messages(row, messagesField);
      return conversation(row, source, messages, 0, messagesField);
    }
    boolean listed =
        row.fields().path(promptField).isArray() || row.fields().path(completionField).isArray();
    if (!listed && !chat) {
      return new Text(id(row), source, row.text(promptField), completion(row));
    }
    List<Message> prompt = messagesOr(row, promptField, "user");
    List<Message> all = new ArrayList<>(prompt);
    all.addAll(messagesOr(row, completionField, ASSISTANT));
    return conversation(row, source, all, prompt.size(), completionField);
  }

  private String completion(Row row) throws RowException {
    if (!row.has(completionField)) {
      throw row.bad(completionField, "must be a string");
    }
    return row.textOrEmpty(completionField);
  }

  private SupervisedRow conversation(
      Row row, String source, List<Message> messages, int from, String field) throws RowException {
    boolean answered =
        messages.stream().skip(from).anyMatch(message -> message.role().equals(ASSISTANT));
    if (!answered || messages.getFirst().role().equals(ASSISTANT)) {
      throw row.bad(field, "must hold an answer of the assistant to a message");
    }
    return new Chat(id(row), source, messages, from);
  }

  private List<Message> messagesOr(Row row, String field, String role) throws RowException {
    return row.fields().path(field).isArray()
        ? messages(row, field)
        : List.of(new Message(role, row.text(field)));
  }

  private static List<Message> messages(Row row, String field) throws RowException {
    List<Message> messages = new ArrayList<>();
    for (JsonNode each : row.fields().path(field)) {
      if (!each.path("role").isTextual()) {
        throw row.bad(field, "must be a list of messages with role and content");
      }
      messages.add(new Message(each.path("role").textValue(), content(row, field, each)));
    }
    if (messages.isEmpty()) {
      throw row.bad(field, "must be a list of messages with role and content");
    }
    return messages;
  }

  /** A text, or parts of which each has one. */
  private static String content(Row row, String field, JsonNode message) throws RowException {
    JsonNode content = message.path("content");
    if (content.isTextual()) {
      return content.textValue();
    }
    StringBuilder joined = new StringBuilder();
    for (JsonNode part : content) {
      if (!part.path("text").isTextual()) {
        throw row.bad(field, "must hold texts only");
      }
      joined.append(part.path("text").textValue());
    }
    if (!content.isArray()) {
      throw row.bad(field, "must be a list of messages with role and content");
    }
    return joined.toString();
  }
}
