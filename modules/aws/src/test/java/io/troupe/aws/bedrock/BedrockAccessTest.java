package io.troupe.aws.bedrock;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.net.URI;
import java.security.MessageDigest;
import java.util.HexFormat;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;
import org.junit.jupiter.api.Test;
import software.amazon.awssdk.auth.credentials.AwsCredentialsProvider;
import software.amazon.awssdk.auth.credentials.AwsSessionCredentials;
import software.amazon.awssdk.auth.credentials.StaticCredentialsProvider;
import software.amazon.awssdk.core.exception.SdkClientException;
import software.amazon.awssdk.regions.Region;

class BedrockAccessTest {
  private static final BedrockAccess ACCESS =
      new BedrockAccess(
          StaticCredentialsProvider.create(AwsSessionCredentials.create("KEY", "secret", "token")),
          () -> Region.EU_CENTRAL_1);

  /** The signature is computed by the steps of Amazon's documentation of Signature Version 4. */
  @Test
  void headers_aRequest_haveTheSignatureThatAmazonComputes() throws Exception {
    byte[] body = "{\"messages\":[]}".getBytes(UTF_8);
    String path = "/model/anthropic.claude-v2%3A1/converse";
    URI endpoint = URI.create("http://localhost:8080" + path);

    Map<String, String> headers = new TreeMap<>(String.CASE_INSENSITIVE_ORDER);
    headers.putAll(ACCESS.headers(endpoint, body));

    assertThat(headers).doesNotContainKeys("Host", "Content-Length");
    assertThat(headers).containsEntry("X-Amz-Security-Token", "token");
    Matcher given =
        Pattern.compile(
                "AWS4-HMAC-SHA256 Credential=KEY/(\\d{8}/eu-central-1/bedrock/aws4_request),"
                    + " SignedHeaders=([a-z0-9;-]+), Signature=([0-9a-f]{64})")
            .matcher(headers.get("Authorization"));
    assertThat(given.matches()).as(headers.get("Authorization")).isTrue();
    StringBuilder canonical = new StringBuilder("POST\n" + path.replace("%", "%25") + "\n\n");
    for (String name : given.group(2).split(";", -1)) {
      canonical.append(name).append(':');
      canonical.append(name.equals("host") ? "localhost:8080" : headers.get(name)).append('\n');
    }
    canonical.append('\n').append(given.group(2)).append('\n').append(sha256(body));
    String signed =
        "AWS4-HMAC-SHA256\n%s\n%s\n%s"
            .formatted(
                headers.get("X-Amz-Date"),
                given.group(1),
                sha256(canonical.toString().getBytes(UTF_8)));
    byte[] key = "AWS4secret".getBytes(UTF_8);
    for (String part : given.group(1).split("/", -1)) {
      key = hmac(key, part);
    }
    assertThat(given.group(3)).isEqualTo(HexFormat.of().formatHex(hmac(key, signed)));
  }

  private static String sha256(byte[] bytes) throws Exception {
    return HexFormat.of().formatHex(MessageDigest.getInstance("SHA-256").digest(bytes));
  }

  private static byte[] hmac(byte[] key, String text) throws Exception {
    Mac mac = Mac.getInstance("HmacSHA256");
    mac.init(new SecretKeySpec(key, "HmacSHA256"));
    return mac.doFinal(text.getBytes(UTF_8));
  }

  @Test
  void address_isOfTheRegion_andWithoutOneSaysWhatToSet() {
    assertThat(ACCESS.address())
        .isEqualTo(URI.create("https://bedrock-runtime.eu-central-1.amazonaws.com"));
    assertThatThrownBy(() -> new BedrockAccess(none(), BedrockAccessTest::nowhere).address())
        .hasMessageContaining("set AWS_REGION");
  }

  @Test
  void headers_withoutCredentials_sayWhatToSet() {
    BedrockAccess access = new BedrockAccess(none(), () -> Region.US_EAST_1);

    assertThatThrownBy(() -> access.headers(URI.create("http://localhost/"), new byte[0]))
        .hasMessageContaining("set AWS_PROFILE");
  }

  private static AwsCredentialsProvider none() {
    return () -> {
      throw SdkClientException.create("Unable to load credentials");
    };
  }

  private static Region nowhere() {
    throw SdkClientException.create("Unable to load region");
  }
}
