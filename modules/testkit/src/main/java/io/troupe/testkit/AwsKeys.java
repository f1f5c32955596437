package io.troupe.testkit;

import java.util.List;
import java.util.Map;

/**
 * Credentials that played services of AWS take, where the SDK's default chain finds them. They are
 * properties of the process: a test that sets them while others run beside it locks those.
 */
public final class AwsKeys {
  private static final Map<String, String> PROPERTIES =
      Map.of("aws.accessKeyId", "tester", "aws.secretAccessKey", "secret");

  /** Options that give another JVM the credentials. */
  public static final List<String> JVM_OPTIONS =
      PROPERTIES.entrySet().stream()
          .map(property -> "-D%s=%s".formatted(property.getKey(), property.getValue()))
          .toList();

  private AwsKeys() {}

  /** Sets the credentials for this process. */
  public static void set() {
    PROPERTIES.forEach(System::setProperty);
  }

  /** Removes the credentials from this process. */
  public static void clear() {
    PROPERTIES.keySet().forEach(System::clearProperty);
  }
}
