package io.troupe.store.s3;

import io.troupe.store.objects.ObjectStoreException;
import io.troupe.store.objects.ObjectStoreException.Kind;
import java.util.Set;
import software.amazon.awssdk.awscore.exception.AwsErrorDetails;
import software.amazon.awssdk.awscore.exception.AwsServiceException;
import software.amazon.awssdk.core.exception.SdkException;

/** The meaning of the library's failures, and their remedies. */
final class S3Failures {
  /** Credentials that were good and ran out: others may be found by now. */
  private static final Set<String> EXPIRED =
      Set.of("ExpiredToken", "ExpiredTokenException", "TokenRefreshRequired", "RequestExpired");

  private static final Set<String> PASSING =
      Set.of(
          "SlowDown",
          "RequestTimeout",
          "RequestTimeTooSkewed",
          "BadDigest",
          "XAmzContentSHA256Mismatch",
          "IncompleteBody",
          "ConditionalRequestConflict",
          "OperationAborted");

  private S3Failures() {}

  /** The failure of a request, in the words of {@link io.troupe.store.objects.ObjectStore}. */
  static ObjectStoreException explain(String what, SdkException failure) {
    return new ObjectStoreException(
        kind(failure), "%s: %s".formatted(what, reason(failure)), failure);
  }

  static boolean expired(SdkException failure) {
    return failure instanceof AwsServiceException service && EXPIRED.contains(code(service));
  }

  private static Kind kind(SdkException failure) {
    if (!(failure instanceof AwsServiceException service)) {
      return withoutCredentials(failure) ? Kind.REFUSED : Kind.UNAVAILABLE;
    }
    if (expired(failure)) {
      return Kind.EXPIRED;
    }
    if (PASSING.contains(code(service))) {
      return Kind.UNAVAILABLE;
    }
    return switch (service.statusCode()) {
      case 404 -> code(service).equals("NoSuchBucket") ? Kind.REFUSED : Kind.ABSENT;
      case 412 -> Kind.CONFLICT;
      case 408, 425, 429 -> Kind.UNAVAILABLE;
      default -> service.statusCode() >= 500 ? Kind.UNAVAILABLE : Kind.REFUSED;
    };
  }

  private static String code(AwsServiceException failure) {
    AwsErrorDetails details = failure.awsErrorDetails();
    return details == null || details.errorCode() == null ? "" : details.errorCode();
  }

  /** Returns the reason why a request failed, in a sentence. */
  static String reason(SdkException failure) {
    if (failure instanceof AwsServiceException service) {
      String code = code(service);
      return "status %d%s%s"
          .formatted(service.statusCode(), code.isEmpty() ? "" : " " + code, advice(service, code));
    }
    return withoutCredentials(failure)
        ? "no credentials; set AWS_PROFILE, or AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY"
        : String.valueOf(failure.getMessage());
  }

  private static boolean withoutCredentials(SdkException failure) {
    return String.valueOf(failure.getMessage()).startsWith("Unable to load credentials");
  }

  private static String advice(AwsServiceException service, String code) {
    if (code.equals("RequestTimeTooSkewed")) {
      return "; this machine's clock is wrong, set it by NTP";
    }
    if (expired(service)) {
      return "; the credentials have expired, renew them";
    }
    return switch (service.statusCode()) {
      case 301 -> "; the bucket is in another region, set the region";
      case 401, 403 ->
          "; the credentials do not open it (AWS_PROFILE, or AWS_ACCESS_KEY_ID and"
              + " AWS_SECRET_ACCESS_KEY)";
      case 404 ->
          code.equals("NoSuchBucket")
              ? "; the bucket is not there, create it or correct its name"
              : "; it is not there";
      default -> "";
    };
  }
}
