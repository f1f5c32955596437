package io.troupe.aws.bedrock;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.net.URI;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import software.amazon.awssdk.auth.credentials.AwsCredentialsProvider;
import software.amazon.awssdk.auth.credentials.DefaultCredentialsProvider;
import software.amazon.awssdk.core.exception.SdkClientException;
import software.amazon.awssdk.http.SdkHttpMethod;
import software.amazon.awssdk.http.SdkHttpRequest;
import software.amazon.awssdk.http.auth.aws.signer.AwsV4HttpSigner;
import software.amazon.awssdk.regions.providers.AwsRegionProvider;
import software.amazon.awssdk.regions.providers.DefaultAwsRegionProviderChain;

/**
 * The address of Bedrock's runtime, and the signatures of requests to it (Signature Version 4).
 * Credentials and region come from the SDK's default chains, are looked up for each request, and
 * are never kept.
 */
public final class BedrockAccess {
  private static final String SERVICE = "bedrock";

  /** Headers that the HTTP client writes itself, with the same values. */
  private static final Set<String> OF_THE_CLIENT = Set.of("host", "content-length");

  private final AwsCredentialsProvider credentials;
  private final AwsRegionProvider regions;

  BedrockAccess(AwsCredentialsProvider credentials, AwsRegionProvider regions) {
    this.credentials = credentials;
    this.regions = regions;
  }

  /** Access by the default chains; nothing is looked up yet. */
  public static BedrockAccess byDefault() {
    return new BedrockAccess(
        DefaultCredentialsProvider.builder().build(), new DefaultAwsRegionProviderChain());
  }

  /**
   * Returns the address of the runtime in the region of this process.
   *
   * @throws IllegalArgumentException if there is no region
   */
  public URI address() {
    return URI.create("https://bedrock-runtime.%s.amazonaws.com".formatted(region()));
  }

  private String region() {
    try {
      return regions.getRegion().id();
    } catch (SdkClientException none) {
      throw new IllegalArgumentException(
          "model.provider is bedrock, and there is no region; set AWS_REGION", none);
    }
  }

  /**
   * Returns the headers that sign a POST of JSON.
   *
   * @throws IOException if there are no credentials
   */
  public Map<String, String> headers(URI endpoint, byte[] body) throws IOException {
    SdkHttpRequest request =
        SdkHttpRequest.builder()
            .method(SdkHttpMethod.POST)
            .uri(endpoint)
            .putHeader("Content-Type", "application/json")
            .build();
    SdkHttpRequest signed;
    try {
      signed =
          AwsV4HttpSigner.create()
              .sign(
                  sign ->
                      sign.identity(credentials.resolveCredentials())
                          .request(request)
                          .payload(() -> new ByteArrayInputStream(body))
                          .putProperty(AwsV4HttpSigner.SERVICE_SIGNING_NAME, SERVICE)
                          .putProperty(AwsV4HttpSigner.REGION_NAME, region()))
              .request();
    } catch (SdkClientException none) {
      throw new IOException(
          "no credentials for Bedrock; set AWS_PROFILE, or AWS_ACCESS_KEY_ID and"
              + " AWS_SECRET_ACCESS_KEY",
          none);
    }
    Map<String, String> headers = new LinkedHashMap<>();
    signed
        .headers()
        .forEach(
            (name, values) -> {
              if (!OF_THE_CLIENT.contains(name.toLowerCase(Locale.ROOT))) {
                headers.put(name, values.getFirst());
              }
            });
    return headers;
  }
}
