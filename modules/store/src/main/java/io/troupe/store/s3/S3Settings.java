package io.troupe.store.s3;

import static io.troupe.core.Require.require;

import java.net.URI;
import java.time.Duration;
import java.util.Optional;
import software.amazon.awssdk.auth.credentials.DefaultCredentialsProvider;
import software.amazon.awssdk.awscore.retry.AwsRetryStrategy;
import software.amazon.awssdk.core.checksums.RequestChecksumCalculation;
import software.amazon.awssdk.core.checksums.ResponseChecksumValidation;
import software.amazon.awssdk.core.exception.SdkClientException;
import software.amazon.awssdk.http.urlconnection.UrlConnectionHttpClient;
import software.amazon.awssdk.regions.Region;
import software.amazon.awssdk.regions.providers.DefaultAwsRegionProviderChain;
import software.amazon.awssdk.services.s3.S3Client;
import software.amazon.awssdk.services.s3.S3ClientBuilder;

/**
 * The access to S3. Credentials are never here: they are found as all of Amazon's tools find them,
 * in {@code AWS_ACCESS_KEY_ID} and its kind, {@code AWS_PROFILE}, or the role of the machine.
 *
 * @param endpoint of a server that speaks S3, such as {@code http://localhost:9000}; empty means
 *     Amazon's
 * @param region such as {@code eu-central-1}; empty means what the environment says, else the
 *     bucket's own
 * @param pathStyle whether the bucket is in the path and not in the host name, as most servers
 *     other than Amazon's need it
 */
public record S3Settings(String endpoint, String region, boolean pathStyle) {
  /** For one part of an upload, over a link of 70 kB/s or more. */
  private static final Duration ATTEMPT = Duration.ofMinutes(2);

  public S3Settings {
    require(
        endpoint.isEmpty() || endpoint.matches("https?://[^/\\s]+(/.*)?"),
        "an S3 endpoint is an address such as http://localhost:9000, not %s",
        endpoint);
  }

  /** A client for downloads, which its caller closes. */
  S3Client open() {
    // Servers other than Amazon's do not know the checksums that Amazon added in 2024.
    return builder().requestChecksumCalculation(RequestChecksumCalculation.WHEN_REQUIRED).build();
  }

  /**
   * A client for uploads, which its caller closes. The server verifies the CRC-32 of each body.
   * Bodies go out plain, because other servers than Amazon's refuse its chunked form.
   */
  S3Client openForUploads() {
    return builder()
        .overrideConfiguration(
            override ->
                override
                    .retryStrategy(AwsRetryStrategy.standardRetryStrategy())
                    .apiCallAttemptTimeout(ATTEMPT))
        .requestChecksumCalculation(RequestChecksumCalculation.WHEN_SUPPORTED)
        .serviceConfiguration(service -> service.chunkedEncodingEnabled(false))
        .build();
  }

  private S3ClientBuilder builder() {
    S3ClientBuilder client =
        S3Client.builder()
            .httpClientBuilder(UrlConnectionHttpClient.builder())
            .credentialsProvider(DefaultCredentialsProvider.builder().build())
            .overrideConfiguration(
                override -> override.retryStrategy(AwsRetryStrategy.standardRetryStrategy()))
            .forcePathStyle(pathStyle)
            .responseChecksumValidation(ResponseChecksumValidation.WHEN_REQUIRED)
            .region(Region.of(told().orElse("us-east-1")));
    if (endpoint.isEmpty()) {
      client.crossRegionAccessEnabled(told().isEmpty());
    } else {
      client.endpointOverride(URI.create(endpoint));
    }
    return client;
  }

  private Optional<String> told() {
    if (!region.isEmpty()) {
      return Optional.of(region);
    }
    try {
      return Optional.of(DefaultAwsRegionProviderChain.builder().build().getRegion().id());
    } catch (SdkClientException e) {
      return Optional.empty(); // the chain's way to say that nothing names it
    }
  }
}
