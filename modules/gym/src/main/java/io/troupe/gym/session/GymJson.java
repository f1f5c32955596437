package io.troupe.gym.session;

import static java.nio.charset.StandardCharsets.UTF_8;

import com.fasterxml.jackson.annotation.JsonTypeInfo;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.SerializationFeature;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.databind.jsontype.NamedType;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.troupe.gym.loop.GymEvent;
import io.troupe.gym.skill.SkillAction;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;

/**
 * The JSON of a gym's journal: a record is the events of one decision, {@code {"v": 1, "at":
 * milliseconds since 1970, "events": [...]}}, each event with its type.
 */
public final class GymJson {
  private static final int VERSION = 1;

  @JsonTypeInfo(use = JsonTypeInfo.Id.NAME, property = "type")
  private interface Typed {}

  static final JsonMapper LINE = mapper();

  private GymJson() {}

  private static JsonMapper mapper() {
    JsonMapper.Builder builder =
        JsonMapper.builder()
            .enable(SerializationFeature.ORDER_MAP_ENTRIES_BY_KEYS)
            .enable(DeserializationFeature.FAIL_ON_MISSING_CREATOR_PROPERTIES)
            .enable(DeserializationFeature.FAIL_ON_NULL_CREATOR_PROPERTIES)
            .enable(DeserializationFeature.FAIL_ON_NULL_FOR_PRIMITIVES);
    for (Class<?> family : List.of(GymEvent.class, SkillAction.class)) {
      builder.addMixIn(family, Typed.class);
      types(family)
          .forEach(type -> builder.registerSubtypes(new NamedType(type, type.getSimpleName())));
    }
    return builder.build();
  }

  private static List<Class<?>> types(Class<?> family) {
    List<Class<?>> types = new ArrayList<>();
    for (Class<?> each : family.getPermittedSubclasses()) {
      if (each.isRecord()) {
        types.add(each);
      } else {
        types.addAll(types(each));
      }
    }
    return types;
  }

  /** Returns the events of one decision as a record's payload. */
  static byte[] encode(long at, List<GymEvent> events) {
    ObjectNode node = LINE.createObjectNode();
    node.put("v", VERSION);
    node.put("at", at);
    var list = node.putArray("events");
    try {
      for (GymEvent each : events) {
        list.add(LINE.readTree(LINE.writerFor(GymEvent.class).writeValueAsString(each)));
      }
      return node.toString().getBytes(UTF_8);
    } catch (JsonProcessingException impossible) {
      throw new IllegalStateException("an event is a tree of records", impossible);
    }
  }

  /**
   * Returns the events of a record.
   *
   * @param where the record is, for errors
   * @throws IOException if it is of another version, or no such record
   */
  static List<GymEvent> decode(String where, byte[] payload) throws IOException {
    try {
      JsonNode node = LINE.readTree(payload);
      if (node.path("v").asInt() != VERSION) {
        throw new IOException(
            ("%s is of format %s, and this Troupe reads %d; use the Troupe that wrote it (gym.json"
                    + " says which), or begin a new gym")
                .formatted(where, node.path("v"), VERSION));
      }
      List<GymEvent> events = new ArrayList<>();
      for (JsonNode each : node.path("events")) {
        events.add(LINE.treeToValue(each, GymEvent.class));
      }
      return events;
    } catch (JsonProcessingException damaged) {
      throw new IOException("%s: %s".formatted(where, damaged.getOriginalMessage()));
    }
  }
}
