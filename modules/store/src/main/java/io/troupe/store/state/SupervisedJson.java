package io.troupe.store.state;

import static java.nio.charset.StandardCharsets.UTF_8;

import com.fasterxml.jackson.annotation.JsonTypeInfo;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.jsontype.NamedType;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.troupe.core.supervised.SupervisedEvent;
import io.troupe.core.supervised.SupervisedState;
import io.troupe.store.file.FormatException;
import io.troupe.store.file.FormatVersions;
import io.troupe.store.file.StoreJson;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;

/**
 * Events and states of a supervised run as JSON: what the records of its journal and {@code
 * state.json} of its checkpoints hold.
 */
public final class SupervisedJson {
  /** Says that a record is of a supervised run. */
  static final String KIND = "supervised";

  private static final int FORMAT = 1;
  private static final String REMEDY =
      "use the version of Troupe that wrote it, which run.json names";
  private static final ObjectMapper MAPPER = mapper();

  private SupervisedJson() {}

  /**
   * An event, when.
   *
   * @param atMillis since 1970, UTC
   */
  public record Entry(long atMillis, SupervisedEvent event) {}

  @JsonTypeInfo(use = JsonTypeInfo.Id.NAME, property = "type")
  private interface Typed {}

  private static ObjectMapper mapper() {
    ObjectMapper mapper = StoreJson.LINE.copy();
    mapper.addMixIn(SupervisedEvent.class, Typed.class);
    for (Class<?> type : SupervisedEvent.class.getPermittedSubclasses()) {
      mapper.registerSubtypes(new NamedType(type, type.getSimpleName()));
    }
    return mapper;
  }

  /** An event as one journal record. */
  public static byte[] encode(Entry entry) {
    ObjectNode record = headed();
    record.put("at", entry.atMillis());
    record.set("event", MAPPER.valueToTree(entry.event()));
    return bytes(record);
  }

  /** The event of a record, which {@code name} names in messages. */
  public static Entry entry(String name, byte[] payload) throws FormatException {
    JsonNode record = read(name, payload);
    try {
      return new Entry(
          record.path("at").longValue(),
          MAPPER.treeToValue(record.path("event"), SupervisedEvent.class));
    } catch (JsonProcessingException damaged) {
      throw new FormatException("%s is damaged: %s".formatted(name, damaged.getMessage()), damaged);
    }
  }

  /** A state as {@code state.json} has it. */
  public static byte[] encode(SupervisedState state) {
    ObjectNode file = headed();
    file.set("state", MAPPER.valueToTree(state));
    return bytes(file);
  }

  /** The state in a file. */
  public static SupervisedState state(Path file, byte[] content) throws FormatException {
    JsonNode json = read(file.toString(), content);
    try {
      return MAPPER.treeToValue(json.path("state"), SupervisedState.class);
    } catch (JsonProcessingException damaged) {
      throw new FormatException("%s is damaged: %s".formatted(file, damaged.getMessage()), damaged);
    }
  }

  /**
   * Refuses a record of a supervised run where one of a run of {@code troupe train} belongs.
   *
   * @throws FormatException that says what reads it
   */
  static void refuse(String name, byte[] record) throws FormatException {
    if (new String(record, UTF_8).startsWith("{\"%s\":".formatted(KIND))) {
      String reason = "it is of a supervised run, which this command does not read";
      throw new FormatException(
          "%s: %s; its metrics.jsonl has every step, and `troupe sft --resume` continues it"
              .formatted(name, reason),
          new IOException(reason));
    }
  }

  private static ObjectNode headed() {
    ObjectNode node = MAPPER.createObjectNode();
    node.put(KIND, FORMAT);
    return node;
  }

  private static JsonNode read(String name, byte[] content) throws FormatException {
    JsonNode json;
    try {
      json = MAPPER.readTree(content);
    } catch (IOException damaged) {
      throw new FormatException("%s is no JSON: %s".formatted(name, damaged.getMessage()), damaged);
    }
    if (json.path(KIND).asInt(0) != FORMAT) {
      throw FormatVersions.other(name, json.path(KIND).asText("0"), FORMAT, REMEDY);
    }
    return json;
  }

  private static byte[] bytes(ObjectNode node) {
    try {
      return MAPPER.writeValueAsBytes(node);
    } catch (IOException impossible) {
      throw new UncheckedIOException(impossible);
    }
  }
}
