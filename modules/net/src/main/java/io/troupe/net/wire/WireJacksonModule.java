package io.troupe.net.wire;

import com.fasterxml.jackson.annotation.JsonCreator;
import com.fasterxml.jackson.annotation.JsonProperty;
import com.fasterxml.jackson.annotation.JsonTypeInfo;
import com.fasterxml.jackson.databind.annotation.JsonDeserialize;
import com.fasterxml.jackson.databind.annotation.JsonSerialize;
import com.fasterxml.jackson.databind.jsontype.NamedType;
import com.fasterxml.jackson.databind.module.SimpleModule;
import io.troupe.core.completion.Completion;
import io.troupe.core.completion.FinishReason;
import io.troupe.core.completion.TokenVersions;
import io.troupe.core.reward.Verdict;
import io.troupe.core.rollout.ScoredGroup;
import io.troupe.core.run.Input;
import io.troupe.core.run.LeaseFailure;
import java.util.List;

/**
 * Jackson's form of the messages between JVMs: arrays of numbers as bytes, and the sealed types
 * inside a message by name. Akka's serializer finds the module by its class name.
 *
 * <p>Names on the wire are the records' own: all JVMs of a cluster are of the same build, which the
 * handshake of joining makes sure of.
 */
public final class WireJacksonModule extends SimpleModule {
  private static final long serialVersionUID = 1L;

  public WireJacksonModule() {
    super("troupe");
    addSerializer(int[].class, new PackedArrays.IntsOut());
    addDeserializer(int[].class, new PackedArrays.IntsIn());
    addSerializer(float[].class, new PackedArrays.FloatsOut());
    addDeserializer(float[].class, new PackedArrays.FloatsIn());
    setMixInAnnotation(Completion.class, CompletionFields.class);
    setMixInAnnotation(ScoredGroup.class, AsWireGroup.class);
    List.of(Input.FromWorker.class, Verdict.class, LeaseFailure.class).forEach(this::named);
  }

  private void named(Class<?> sealedType) {
    setMixInAnnotation(sealedType, Named.class);
    for (Class<?> subtype : sealedType.getPermittedSubclasses()) {
      registerSubtypes(new NamedType(subtype, subtype.getSimpleName()));
    }
  }

  @JsonTypeInfo(use = JsonTypeInfo.Id.NAME)
  private interface Named {}

  @JsonSerialize(converter = WireGroup.Out.class)
  @JsonDeserialize(converter = WireGroup.In.class)
  private interface AsWireGroup {}

  /** A class with accessors named as a record's, which Jackson would not look for. */
  private abstract static class CompletionFields {
    @JsonCreator
    @SuppressWarnings("unused") // read by Jackson
    CompletionFields(
        @JsonProperty("tokens") int[] tokens,
        @JsonProperty("logProbs") float[] logProbs,
        @JsonProperty("versions") TokenVersions versions,
        @JsonProperty("finishReason") FinishReason finishReason,
        @JsonProperty("rawLogProbs") float[] rawLogProbs,
        @JsonProperty("preemptedAt") int[] preemptedAt) {}

    @JsonProperty("tokens")
    abstract int[] tokens();

    @JsonProperty("logProbs")
    abstract float[] logProbs();

    @JsonProperty("versions")
    abstract TokenVersions versions();

    @JsonProperty("finishReason")
    abstract FinishReason finishReason();

    @JsonProperty("rawLogProbs")
    abstract float[] rawLogProbs();

    @JsonProperty("preemptedAt")
    abstract int[] preemptedAt();
  }
}
