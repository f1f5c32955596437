package io.troupe.store.state;

import com.fasterxml.jackson.annotation.JsonTypeInfo;
import com.fasterxml.jackson.core.JsonGenerator;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.DeserializationContext;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.JsonDeserializer;
import com.fasterxml.jackson.databind.JsonMappingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.JsonSerializer;
import com.fasterxml.jackson.databind.KeyDeserializer;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.SerializationFeature;
import com.fasterxml.jackson.databind.SerializerProvider;
import com.fasterxml.jackson.databind.exc.InvalidTypeIdException;
import com.fasterxml.jackson.databind.exc.UnrecognizedPropertyException;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.databind.jsontype.NamedType;
import com.fasterxml.jackson.databind.module.SimpleModule;
import io.troupe.core.prompt.PassRate;
import io.troupe.core.rollout.GroupId;
import io.troupe.core.rollout.LeaseId;
import io.troupe.core.rollout.WorkerId;
import io.troupe.core.run.Event;
import io.troupe.core.run.OperatorCommand;
import io.troupe.core.run.Phase;
import io.troupe.core.run.RunEnd;
import io.troupe.core.run.RunState;
import io.troupe.core.run.group.Group;
import io.troupe.core.weights.WeightVersion;
import io.troupe.store.file.FormatException;
import io.troupe.store.file.FormatVersions;
import io.troupe.store.segment.JournalPosition;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.function.Function;

/**
 * Events and states of a run as JSON: what the journal's records and a checkpoint's {@code
 * state.json} hold. Sealed types carry their simple name as {@code "type"}; numbers and names with
 * a type of their own are plain numbers and strings, a lease is {@code "g7#12"}, a pass rate is
 * {@code [passed, failed]}. {@link OptionalFields} may be missing.
 */
public final class RunJson {
  private static final int FORMAT = 3;

  /** Rises with {@link #FORMAT}: a resumed run appends to the journal of its checkpoint. */
  private static final int STATE_FORMAT = 3;

  private static final String RECORD_REMEDY =
      "read the journal with the version of Troupe that wrote it, which run.json names";
  private static final String STATE_REMEDY =
      "resume the run with the version of Troupe that wrote it, which run.json names, or begin a"
          + " new run";
  private static final List<Class<?>> SEALED =
      List.of(Event.class, Phase.class, RunEnd.class, Group.Stage.class, OperatorCommand.class);

  private static final ObjectMapper MAPPER = mapper();

  private RunJson() {}

  /**
   * The events of one decision, and its time.
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
    return write(new Written(FORMAT, entry.atMillis(), entry.events().toArray(Event[]::new)));
  }

  /**
   * A journal record.
   *
   * @throws UncheckedIOException if it is of another version, or holds something else; its cause is
   *     a {@link FormatException}
   */
  public static Entry entry(byte[] record) {
    try {
      return entry("the record", record);
    } catch (FormatException other) {
      throw new UncheckedIOException(other);
    }
  }

  /**
   * A journal record.
   *
   * @param what names the record, for the message
   */
  public static Entry entry(String what, byte[] record) throws FormatException {
    SupervisedJson.refuse(what, record);
    Written written = read(what, record, "v", FORMAT, Written.class, RECORD_REMEDY);
    return new Entry(written.at(), List.of(written.events()));
  }

  /** The events of a journal record, as {@link #entry}. */
  public static List<Event> events(byte[] record) {
    return entry(record).events();
  }

  /** A state and its place in the journal, as a checkpoint keeps them. */
  public static byte[] encode(StateSnapshot snapshot) {
    return write(new WrittenState(STATE_FORMAT, snapshot.journal(), snapshot.state()));
  }

  /**
   * A state and its place in the journal.
   *
   * @param file source of the bytes, for the message
   */
  static StateSnapshot snapshot(Path file, byte[] json) throws FormatException {
    WrittenState written =
        read(file.toString(), json, "format", STATE_FORMAT, WrittenState.class, STATE_REMEDY);
    return new StateSnapshot(written.journal(), written.state());
  }

  private static byte[] write(Object value) {
    try {
      return MAPPER.writeValueAsBytes(value);
    } catch (JsonProcessingException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static <T extends Versioned> T read(
      String what, byte[] json, String key, int reads, Class<T> type, String remedy)
      throws FormatException {
    try {
      T value = MAPPER.readValue(json, type);
      if (value.version() == reads) {
        return value;
      }
      throw FormatVersions.other(what, Integer.toString(value.version()), reads, remedy);
    } catch (IOException unreadable) {
      if (unreadable instanceof FormatException other) {
        throw other;
      }
      Optional<String> version = version(json, key);
      if (version.isPresent() && !version.get().equals(Integer.toString(reads))) {
        throw FormatVersions.other(what, version.get(), reads, remedy);
      }
      throw new FormatException(
          "%s is of format %d and %s; %s".formatted(what, reads, objection(unreadable), remedy),
          unreadable);
    }
  }

  /** The version that an object says it has, 0 when it says none; empty when it is no object. */
  private static Optional<String> version(byte[] json, String key) {
    try {
      JsonNode tree = MAPPER.readTree(json);
      return tree.isObject() ? Optional.of(tree.path(key).asText("0")) : Optional.empty();
    } catch (IOException noJson) {
      return Optional.empty();
    }
  }

  private static String objection(IOException unreadable) {
    return switch (unreadable) {
      case UnrecognizedPropertyException field ->
          "has a field \"%s\" in a %s, which this version does not know"
              .formatted(field.getPropertyName(), field.getReferringClass().getSimpleName());
      case InvalidTypeIdException type ->
          "has a %s of type \"%s\", which this version does not know"
              .formatted(type.getBaseType().getRawClass().getSimpleName(), type.getTypeId());
      case JsonProcessingException json ->
          "cannot be read: "
              + String.valueOf(json.getOriginalMessage()).lines().findFirst().orElse("");
      default -> "cannot be read: " + unreadable.getMessage();
    };
  }

  private interface Versioned {
    int version();
  }

  @SuppressWarnings("ArrayRecordComponent") // an array keeps the events' type for Jackson
  private record Written(int v, long at, Event[] events) implements Versioned {
    @Override
    public int version() {
      return v;
    }
  }

  private record WrittenState(int format, JournalPosition journal, RunState state)
      implements Versioned {
    @Override
    public int version() {
      return format;
    }
  }

  /** Adds the discriminator to a sealed type without the core knowing of it. */
  @JsonTypeInfo(use = JsonTypeInfo.Id.NAME, property = "type")
  private interface Typed {}

  private static ObjectMapper mapper() {
    SimpleModule words = new SimpleModule();
    scalar(words, WeightVersion.class, WeightVersion::number, text -> version(text));
    scalar(words, GroupId.class, GroupId::number, text -> new GroupId(Long.parseLong(text)));
    scalar(words, WorkerId.class, WorkerId::value, WorkerId::new);
    scalar(words, LeaseId.class, LeaseId::toString, RunJson::lease);
    words.addSerializer(
        PassRate.class,
        new JsonSerializer<PassRate>() {
          @Override
          public void serialize(PassRate rate, JsonGenerator json, SerializerProvider provider)
              throws IOException {
            json.writeArray(new double[] {rate.passed(), rate.failed()}, 0, 2);
          }
        });
    words.addDeserializer(
        PassRate.class,
        new JsonDeserializer<PassRate>() {
          @Override
          public PassRate deserialize(JsonParser json, DeserializationContext context)
              throws IOException {
            double[] evidence = json.readValueAs(double[].class);
            if (evidence.length != 2) {
              throw JsonMappingException.from(
                  json,
                  "a pass rate is [passed, failed], not %d numbers".formatted(evidence.length));
            }
            return new PassRate(evidence[0], evidence[1]);
          }
        });
    JsonMapper.Builder builder =
        OptionalFields.add(JsonMapper.builder())
            .addModule(words)
            .addModule(GroupSummaryJson.module())
            .disable(SerializationFeature.FAIL_ON_EMPTY_BEANS)
            .enable(DeserializationFeature.FAIL_ON_MISSING_CREATOR_PROPERTIES)
            .enable(DeserializationFeature.FAIL_ON_NULL_CREATOR_PROPERTIES)
            .enable(DeserializationFeature.FAIL_ON_NULL_FOR_PRIMITIVES);
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
