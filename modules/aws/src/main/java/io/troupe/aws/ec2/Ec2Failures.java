package io.troupe.aws.ec2;

import io.troupe.aws.ec2.Ec2Exception.Kind;
import java.util.Set;
import software.amazon.awssdk.awscore.exception.AwsErrorDetails;
import software.amazon.awssdk.awscore.exception.AwsServiceException;
import software.amazon.awssdk.core.exception.SdkException;

/** What error codes of EC2 and STS mean for a cluster. */
final class Ec2Failures {
  private static final Set<String> EXPIRED =
      Set.of("ExpiredToken", "ExpiredTokenException", "RequestExpired");

  private static final Set<String> CAPACITY =
      Set.of(
          "InsufficientInstanceCapacity",
          "InsufficientHostCapacity",
          "InsufficientCapacityOnHost",
          "Unsupported",
          "SpotMaxPriceTooLow",
          "MaxSpotInstanceCountExceeded");

  private static final Set<String> QUOTA =
      Set.of("VcpuLimitExceeded", "InstanceLimitExceeded", "VolumeLimitExceeded");

  private static final Set<String> PASSING =
      Set.of(
          "RequestLimitExceeded",
          "Throttling",
          "ThrottlingException",
          "RequestTimeTooSkewed",
          "IncorrectInstanceState");

  private static final Set<String> IN_USE =
      Set.of("DependencyViolation", "InvalidPlacementGroup.InUse");

  private static final Set<String> EXISTS =
      Set.of("InvalidPlacementGroup.Duplicate", "IdempotentParameterMismatch");

  /** What a request names, and what may exist a moment later. */
  private static final Set<String> ABSENT =
      Set.of("InvalidInstanceID.NotFound", "InvalidPlacementGroup.Unknown");

  private Ec2Failures() {}

  static boolean expired(SdkException failure) {
    return EXPIRED.contains(code(failure));
  }

  static Ec2Exception explain(String what, SdkException failure) {
    return new Ec2Exception(kind(failure), "%s: %s".formatted(what, reason(failure)), failure);
  }

  private static Kind kind(SdkException failure) {
    if (!(failure instanceof AwsServiceException service)) {
      return reason(failure).startsWith("no credentials") ? Kind.REFUSED : Kind.UNAVAILABLE;
    }
    String code = code(failure);
    if (CAPACITY.contains(code)) {
      return Kind.CAPACITY;
    }
    if (IN_USE.contains(code)) {
      return Kind.IN_USE;
    }
    if (EXISTS.contains(code)) {
      return Kind.EXISTS;
    }
    if (ABSENT.contains(code)) {
      return Kind.ABSENT;
    }
    boolean passing = expired(failure) || PASSING.contains(code) || service.statusCode() >= 500;
    return passing ? Kind.UNAVAILABLE : Kind.REFUSED;
  }

  private static String code(SdkException failure) {
    if (!(failure instanceof AwsServiceException service)) {
      return "";
    }
    AwsErrorDetails details = service.awsErrorDetails();
    return details == null || details.errorCode() == null ? "" : details.errorCode();
  }

  private static String reason(SdkException failure) {
    String message = String.valueOf(failure.getMessage());
    if (message.startsWith("Unable to load credentials")) {
      return "no credentials; set AWS_PROFILE, or AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY";
    }
    if (!(failure instanceof AwsServiceException service)) {
      return message;
    }
    String code = code(failure);
    AwsErrorDetails details = service.awsErrorDetails();
    String said = details == null ? "" : String.valueOf(details.errorMessage());
    return "status %d %s%s: %s".formatted(service.statusCode(), code, advice(code), said);
  }

  private static String advice(String code) {
    if (QUOTA.contains(code)) {
      return " (a quota of this account, counted in vCPUs; ask for more in Service Quotas)";
    }
    if (EXPIRED.contains(code)) {
      return " (the credentials have expired or are wrong, renew them)";
    }
    return switch (code) {
      case "RequestTimeTooSkewed" -> " (this machine's clock is wrong, set it by NTP)";
      case "UnauthorizedOperation" -> " (the credentials do not allow it)";
      case "IdempotentParameterMismatch" ->
          " (the file changed since a launch that has no answer yet; undo the change, or delete the"
              + " cluster)";
      default -> "";
    };
  }
}
