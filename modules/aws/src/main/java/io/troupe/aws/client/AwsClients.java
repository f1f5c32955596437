package io.troupe.aws.client;

import java.net.URI;
import java.time.Duration;
import software.amazon.awssdk.auth.credentials.DefaultCredentialsProvider;
import software.amazon.awssdk.awscore.client.builder.AwsClientBuilder;
import software.amazon.awssdk.awscore.client.builder.AwsSyncClientBuilder;
import software.amazon.awssdk.awscore.retry.AwsRetryStrategy;
import software.amazon.awssdk.http.urlconnection.UrlConnectionHttpClient;
import software.amazon.awssdk.regions.Region;

/**
 * Clients of Amazon's services in a region. Credentials are found by the SDK's default chain, and
 * never kept.
 *
 * @param region such as {@code us-west-2}
 * @param endpoint of a server other than Amazon's that speaks their protocols; empty means Amazon's
 */
public record AwsClients(String region, String endpoint) {
  private static final Duration ATTEMPT = Duration.ofSeconds(30);

  /** A client that tries each request three times within seconds; its caller closes it. */
  public <C, B extends AwsClientBuilder<B, C> & AwsSyncClientBuilder<B, C>> C open(B builder) {
    builder
        .region(Region.of(region))
        .credentialsProvider(DefaultCredentialsProvider.builder().build())
        .httpClientBuilder(UrlConnectionHttpClient.builder())
        .overrideConfiguration(
            override ->
                override
                    .retryStrategy(AwsRetryStrategy.standardRetryStrategy())
                    .apiCallAttemptTimeout(ATTEMPT));
    if (!endpoint.isEmpty()) {
      builder.endpointOverride(URI.create(endpoint));
    }
    return builder.build();
  }
}
