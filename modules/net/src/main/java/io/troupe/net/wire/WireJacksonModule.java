package io.troupe.net.wire;

import com.fasterxml.jackson.annotation.JsonCreator;
import com.fasterxml.jackson.annotation.JsonProperty;
import com.fasterxml.jackson.annotation.JsonSubTypes;
import com.fasterxml.jackson.annotation.JsonTypeInfo;
import com.fasterxml.jackson.databind.module.SimpleModule;
import io.troupe.core.reward.Verdict;
import io.troupe.core.rollout.Completion;
import io.troupe.core.rollout.FinishReason;
import io.troupe.core.rollout.TokenVersions;
import io.troupe.core.run.LeaseFailure;

/**
 * What Jackson needs to know of the messages that travel: arrays of numbers as bytes, and the
 * sealed types inside them by name. Akka's serializer finds it by its class name.
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
    setMixInAnnotation(Verdict.class, VerdictByName.class);
    setMixInAnnotation(LeaseFailure.class, FailureByName.class);
    setMixInAnnotation(Completion.class, CompletionFields.class);
  }

  @JsonTypeInfo(use = JsonTypeInfo.Id.NAME)
  @JsonSubTypes({
    @JsonSubTypes.Type(value = Verdict.Scored.class, name = "scored"),
    @JsonSubTypes.Type(value = Verdict.Unverifiable.class, name = "unverifiable")
  })
  private interface VerdictByName {}

  @JsonTypeInfo(use = JsonTypeInfo.Id.NAME)
  @JsonSubTypes({
    @JsonSubTypes.Type(value = LeaseFailure.OfPrompt.class, name = "prompt"),
    @JsonSubTypes.Type(value = LeaseFailure.OfEngine.class, name = "engine"),
    @JsonSubTypes.Type(value = LeaseFailure.OfVerifier.class, name = "verifier")
  })
  private interface FailureByName {}

  /** A class with accessors named as a record's, which Jackson would not look for. */
  private abstract static class CompletionFields {
    @JsonCreator
    @SuppressWarnings("unused") // read by Jackson
    CompletionFields(
        @JsonProperty("tokens") int[] tokens,
        @JsonProperty("logProbs") float[] logProbs,
        @JsonProperty("versions") TokenVersions versions,
        @JsonProperty("finishReason") FinishReason finishReason,
        @JsonProperty("rawLogProbs") float[] rawLogProbs) {}

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
  }
}
