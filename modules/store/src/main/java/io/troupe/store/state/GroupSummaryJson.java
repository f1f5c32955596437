package io.troupe.store.state;

import com.fasterxml.jackson.core.JsonGenerator;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import com.fasterxml.jackson.core.type.TypeReference;
import com.fasterxml.jackson.databind.DeserializationContext;
import com.fasterxml.jackson.databind.JsonDeserializer;
import com.fasterxml.jackson.databind.JsonSerializer;
import com.fasterxml.jackson.databind.SerializerProvider;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.databind.module.SimpleModule;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.troupe.core.completion.TokenVersions;
import io.troupe.core.reward.PassMark;
import io.troupe.core.rollout.EpisodeSummary;
import io.troupe.core.rollout.GroupSummary;
import io.troupe.core.rollout.LeaseId;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;

/**
 * Group summaries as JSON: {@code episodes} is left out where every episode is one answer that the
 * policy ended itself, so that a run without tools pays nothing for them; an episode's two times
 * where they were not measured, as before they were known; and {@code passReward}, the mark, where
 * it is 1.
 */
final class GroupSummaryJson {
  private static final String EPISODES = "episodes";
  private static final String MARK = "passReward";
  private static final String SAMPLE_MILLIS = "sampleMillis";
  private static final String MILLIS = "millis";
  private static final JsonMapper PLAIN = new JsonMapper();

  private GroupSummaryJson() {}

  static SimpleModule module() {
    return new SimpleModule("group summaries")
        .addSerializer(GroupSummary.class, new Out())
        .addDeserializer(GroupSummary.class, new In());
  }

  private static ObjectNode untimed(ObjectNode episode) {
    return episode.path(SAMPLE_MILLIS).asLong() == 0 && episode.path(MILLIS).asLong() == 0
        ? episode.without(List.of(SAMPLE_MILLIS, MILLIS))
        : episode;
  }

  private static ObjectNode timed(ObjectNode episode) {
    return episode.has(SAMPLE_MILLIS) || episode.has(MILLIS)
        ? episode
        : episode.put(SAMPLE_MILLIS, 0).put(MILLIS, 0);
  }

  private static final class Out extends JsonSerializer<GroupSummary> {
    @Override
    public void serialize(GroupSummary summary, JsonGenerator json, SerializerProvider provider)
        throws IOException {
      json.writeStartObject();
      json.writePOJOField("lease", summary.lease());
      json.writePOJOField("rewards", summary.rewards());
      json.writePOJOField("versions", summary.versions());
      if (!summary.episodes().stream().allMatch(EpisodeSummary.ANSWER::equals)) {
        json.writeArrayFieldStart(EPISODES);
        for (EpisodeSummary episode : summary.episodes()) {
          json.writeTree(untimed(PLAIN.valueToTree(episode)));
        }
        json.writeEndArray();
      }
      if (!summary.mark().equals(PassMark.FULL)) {
        json.writeNumberField(MARK, summary.mark().reward());
      }
      json.writeEndObject();
    }
  }

  private static final class In extends JsonDeserializer<GroupSummary> {
    private static final TypeReference<List<TokenVersions>> VERSIONS = new TypeReference<>() {};
    private static final TypeReference<List<Double>> REWARDS = new TypeReference<>() {};
    private static final TypeReference<List<ObjectNode>> SUMMARIES = new TypeReference<>() {};

    @Override
    public GroupSummary deserialize(JsonParser json, DeserializationContext context)
        throws IOException {
      List<LeaseId> lease = new ArrayList<>();
      List<Double> rewards = new ArrayList<>();
      List<TokenVersions> versions = new ArrayList<>();
      List<EpisodeSummary> episodes = new ArrayList<>();
      PassMark mark = PassMark.FULL;
      while (json.nextToken() == JsonToken.FIELD_NAME) {
        String name = json.currentName();
        json.nextToken();
        switch (name) {
          case "lease" -> lease.add(json.readValueAs(LeaseId.class));
          case "rewards" -> rewards.addAll(json.readValueAs(REWARDS));
          case "versions" -> versions.addAll(json.readValueAs(VERSIONS));
          case EPISODES -> {
            List<ObjectNode> written = json.readValueAs(SUMMARIES);
            for (ObjectNode episode : written) {
              episodes.add(json.getCodec().treeToValue(timed(episode), EpisodeSummary.class));
            }
          }
          case MARK -> mark = new PassMark(json.getDoubleValue());
          default -> context.handleUnknownProperty(json, this, GroupSummary.class, name);
        }
      }
      if (lease.isEmpty()) {
        context.reportInputMismatch(GroupSummary.class, "a group summary names its lease");
      }
      GroupSummary read =
          episodes.isEmpty()
              ? new GroupSummary(lease.getFirst(), rewards, versions)
              : new GroupSummary(lease.getFirst(), rewards, versions, episodes);
      return read.by(mark);
    }
  }
}
