package io.troupe.store;

import com.fasterxml.jackson.annotation.JsonProperty;
import com.fasterxml.jackson.annotation.JsonTypeInfo;
import com.fasterxml.jackson.core.JsonGenerator;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.DeserializationContext;
import com.fasterxml.jackson.databind.JsonDeserializer;
import com.fasterxml.jackson.databind.JsonSerializer;
import com.fasterxml.jackson.databind.KeyDeserializer;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.SerializationFeature;
import com.fasterxml.jackson.databind.SerializerProvider;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.databind.jsontype.NamedType;
import com.fasterxml.jackson.databind.module.SimpleModule;
import io.troupe.core.rollout.GroupId;
import io.troupe.core.rollout.LeaseId;
import io.troupe.core.rollout.WorkerId;
import io.troupe.core.run.Event;
import io.troupe.core.run.Group;
import io.troupe.core.run.Phase;
import io.troupe.core.run.RunEnd;
import io.troupe.core.run.RunState;
import io.troupe.core.run.Verb;
import io.troupe.core.weights.WeightVersion;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.List;
import java.util.function.Function;

/**
 * Events and states of a run as JSON: what the journal's records and a checkpoint's {@code
 * state.json} hold. Sealed types carry their simple name as {@code "type"}; numbers and names with
 * a type of their own are plain numbers and strings, a lease is {@code "g7#12"}.
 */
public final class RunJson {
  private static final List<Class<?>> SEALED =
      List.of(Event.class, Phase.class, RunEnd.class, Group.Stage.class, Verb.class);

  private static final ObjectMapper MAPPER = mapper();

  private RunJson() {}

  /**
   * What one decision brought, when.
   *
   * @param atMillis since 1970, UTC
   */
  public record Entry(long atMillis, List<Event> events) {
    public Entry {
      events = List.copyOf(events);
    }
  }

  /** The events of one decision, as one journal record: all of them are in the journal, or none. */
  public static byte[] encode(Entry entry) {
    return write(new Written(entry.atMillis(), entry.events().toArray(Event[]::new)));
  }

  /**
   * A journal record.
   *
   * @throws UncheckedIOException if it holds something else, or an event this version does not know
   */
  public static Entry entry(byte[] record) {
    Written written = read(record, Written.class);
    return new Entry(written.at(), List.of(written.events()));
  }

  /** The events of a journal record, as {@link #entry}. */
  public static List<Event> events(byte[] record) {
    return entry(record).events();
  }

  /** A state, as a checkpoint keeps it. */
  public static byte[] encode(RunState state) {
    return write(state);
  }

  /**
   * A state from a checkpoint.
   *
   * @throws UncheckedIOException if it is none
   */
  public static RunState state(byte[] json) {
    return read(json, RunState.class);
  }

  private static byte[] write(Object value) {
    try {
      return MAPPER.writeValueAsBytes(value);
    } catch (JsonProcessingException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static <T> T read(byte[] json, Class<T> type) {
    try {
      return MAPPER.readValue(json, type);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  @SuppressWarnings("ArrayRecordComponent") // an array keeps the events' type for Jackson
  private record Written(
      @JsonProperty(required = true) long at, @JsonProperty(required = true) Event[] events) {}

  /** Adds the discriminator to a sealed type without the core knowing of it. */
  @JsonTypeInfo(use = JsonTypeInfo.Id.NAME, property = "type")
  private interface Typed {}

  private static ObjectMapper mapper() {
    SimpleModule words = new SimpleModule();
    scalar(words, WeightVersion.class, WeightVersion::number, text -> version(text));
    scalar(words, GroupId.class, GroupId::number, text -> new GroupId(Long.parseLong(text)));
    scalar(words, WorkerId.class, WorkerId::value, WorkerId::new);
    scalar(words, LeaseId.class, LeaseId::toString, RunJson::lease);
    JsonMapper.Builder builder =
        JsonMapper.builder().addModule(words).disable(SerializationFeature.FAIL_ON_EMPTY_BEANS);
    for (Class<?> type : SEALED) {
      builder.addMixIn(type, Typed.class);
      for (Class<?> subtype : type.getPermittedSubclasses()) {
        builder.registerSubtypes(new NamedType(subtype, subtype.getSimpleName()));
      }
    }
    return builder.build();
  }

  private static WeightVersion version(String text) {
    return new WeightVersion(Long.parseLong(text));
  }

  private static LeaseId lease(String text) {
    int fence = text.indexOf('#');
    if (!text.startsWith("g") || fence < 0) {
      throw new IllegalArgumentException("a lease looks like g7#12, not \"%s\"".formatted(text));
    }
    return new LeaseId(
        new GroupId(Long.parseLong(text.substring(1, fence))),
        Long.parseLong(text.substring(fence + 1)));
  }

  private static <T> void scalar(
      SimpleModule module, Class<T> type, Function<T, Object> out, Function<String, T> in) {
    module.addSerializer(
        type,
        new JsonSerializer<T>() {
          @Override
          public void serialize(T value, JsonGenerator json, SerializerProvider provider)
              throws IOException {
            json.writePOJO(out.apply(value));
          }
        });
    module.addKeySerializer(
        type,
        new JsonSerializer<T>() {
          @Override
          public void serialize(T value, JsonGenerator json, SerializerProvider provider)
              throws IOException {
            json.writeFieldName(String.valueOf(out.apply(value)));
          }
        });
    module.addDeserializer(
        type,
        new JsonDeserializer<T>() {
          @Override
          public T deserialize(JsonParser json, DeserializationContext context) throws IOException {
            return in.apply(json.getText());
          }
        });
    module.addKeyDeserializer(
        type,
        new KeyDeserializer() {
          @Override
          public Object deserializeKey(String key, DeserializationContext context) {
            return in.apply(key);
          }
        });
  }
}
