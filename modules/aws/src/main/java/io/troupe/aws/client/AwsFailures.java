package io.troupe.aws.client;

import java.util.Set;
import software.amazon.awssdk.awscore.exception.AwsErrorDetails;
import software.amazon.awssdk.awscore.exception.AwsServiceException;
import software.amazon.awssdk.core.exception.SdkException;

/** The meaning of failures that all services share. */
public final class AwsFailures {
  private static final Set<String> EXPIRED =
      Set.of("ExpiredToken", "ExpiredTokenException", "RequestExpired");

  private static final Set<String> PASSING =
      Set.of("RequestLimitExceeded", "Throttling", "ThrottlingException", "RequestTimeTooSkewed");

  private static final String NO_CREDENTIALS =
      "no credentials; set AWS_PROFILE, or AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY";

  private AwsFailures() {}

  /** Whether new credentials are needed. */
  public static boolean expired(SdkException failure) {
    return EXPIRED.contains(code(failure));
  }

  /** Whether the same request may succeed later, and may have been done already. */
  public static boolean passing(SdkException failure) {
    if (!(failure instanceof AwsServiceException service)) {
      return !withoutCredentials(failure);
    }
    return expired(failure) || PASSING.contains(code(failure)) || service.statusCode() >= 500;
  }

  /** The service's error code; empty if the service did not answer. */
  public static String code(SdkException failure) {
    if (!(failure instanceof AwsServiceException service)) {
      return "";
    }
    AwsErrorDetails details = service.awsErrorDetails();
    return details == null || details.errorCode() == null ? "" : details.errorCode();
  }

  /** Returns the service's message; empty if it did not answer. */
  public static String said(SdkException failure) {
    return failure instanceof AwsServiceException service && service.awsErrorDetails() != null
        ? String.valueOf(service.awsErrorDetails().errorMessage())
        : "";
  }

  /**
   * A failure by its kind and in a sentence.
   *
   * @param what failed
   * @param advice of the service about its error code; empty where there is none
   */
  public static AwsException explain(
      AwsException.Kind kind, String what, SdkException failure, String advice) {
    return new AwsException(kind, "%s: %s".formatted(what, reason(failure, advice)), failure);
  }

  /**
   * A failure as a sentence.
   *
   * @param advice of the service about its error code; empty where there is none
   */
  public static String reason(SdkException failure, String advice) {
    if (withoutCredentials(failure)) {
      return NO_CREDENTIALS;
    }
    if (!(failure instanceof AwsServiceException service)) {
      return String.valueOf(failure.getMessage());
    }
    String next = advice.isEmpty() ? general(failure) : advice;
    return "status %d %s%s: %s"
        .formatted(
            service.statusCode(),
            code(failure),
            next.isEmpty() ? "" : " (" + next + ")",
            said(failure));
  }

  private static String general(SdkException failure) {
    if (expired(failure)) {
      return "the credentials have expired or are wrong, renew them";
    }
    return switch (code(failure)) {
      case "RequestTimeTooSkewed" -> "this machine's clock is wrong, set it by NTP";
      case "UnauthorizedOperation", "AccessDenied", "AccessDeniedException" ->
          "the credentials do not allow it";
      default -> "";
    };
  }

  private static boolean withoutCredentials(SdkException failure) {
    return String.valueOf(failure.getMessage()).startsWith("Unable to load credentials");
  }
}
