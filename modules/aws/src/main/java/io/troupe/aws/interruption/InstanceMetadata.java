package io.troupe.aws.interruption;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import java.net.URI;
import java.time.DateTimeException;
import java.time.Duration;
import java.time.Instant;
import java.util.Optional;
import software.amazon.awssdk.core.exception.SdkException;
import software.amazon.awssdk.http.urlconnection.UrlConnectionHttpClient;
import software.amazon.awssdk.imds.Ec2MetadataClient;
import software.amazon.awssdk.imds.Ec2MetadataClientException;
import software.amazon.awssdk.imds.Ec2MetadataRetryPolicy;

/** The metadata of the instance that this process runs on, version 2 of their protocol. */
final class InstanceMetadata implements AutoCloseable {
  private static final String ACTION = "/latest/meta-data/spot/instance-action";
  private static final String REBALANCE = "/latest/meta-data/events/recommendations/rebalance";
  private static final int NOT_FOUND = 404;
  private static final JsonMapper JSON = new JsonMapper();

  private final Ec2MetadataClient client;

  InstanceMetadata(URI endpoint) {
    this.client =
        Ec2MetadataClient.builder()
            .endpoint(endpoint)
            .retryPolicy(Ec2MetadataRetryPolicy.none())
            .httpClient(
                UrlConnectionHttpClient.builder()
                    .connectionTimeout(Duration.ofSeconds(2))
                    .socketTimeout(Duration.ofSeconds(2))
                    .build())
            .build();
  }

  /** Asks now; takes some seconds at most. */
  Sighting look() {
    try {
      Optional<String> action = read(ACTION);
      if (action.isPresent()) {
        return interruption(action.get());
      }
      return read(REBALANCE).isPresent() ? new Sighting.Rebalance() : new Sighting.Undisturbed();
    } catch (SdkException failure) {
      return new Sighting.Unknown(String.valueOf(failure.getMessage()));
    }
  }

  private Optional<String> read(String path) {
    try {
      return Optional.of(client.get(path).asString());
    } catch (Ec2MetadataClientException refused) {
      if (refused.statusCode() == NOT_FOUND) {
        return Optional.empty();
      }
      throw refused;
    }
  }

  /** The notice in the body of an answer. */
  static Sighting interruption(String body) {
    try {
      JsonNode answer = JSON.readTree(body);
      String action = answer.path("action").asText();
      if (action.isEmpty()) {
        return new Sighting.Unknown("an instance-action without an action: " + shown(body));
      }
      return new Sighting.Interruption(
          new InterruptionNotice(action, Instant.parse(answer.path("time").asText())));
    } catch (JsonProcessingException | DateTimeException e) {
      return new Sighting.Unknown("an instance-action that cannot be read: " + shown(body));
    }
  }

  private static String shown(String body) {
    return body.length() > 100 ? body.substring(0, 100) + " …" : body;
  }

  @Override
  public void close() {
    client.close();
  }
}
