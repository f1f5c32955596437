package io.troupe.aws.ec2;

import io.troupe.aws.client.AwsException;
import io.troupe.aws.client.AwsException.Kind;
import io.troupe.aws.client.AwsFailures;
import java.util.Set;
import software.amazon.awssdk.core.exception.SdkException;

/** The meaning of EC2's error codes for a cluster. */
final class Ec2Failures {
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

  private static final Set<String> IN_USE =
      Set.of(
          "DependencyViolation",
          "InvalidPlacementGroup.InUse",
          "VolumeInUse",
          "InvalidNetworkInterface.InUse");

  private static final Set<String> EXISTS =
      Set.of("InvalidPlacementGroup.Duplicate", "IdempotentParameterMismatch");

  /** A resource that a request names does not exist, or may exist a moment later. */
  private static final Set<String> ABSENT =
      Set.of(
          "InvalidInstanceID.NotFound",
          "InvalidPlacementGroup.Unknown",
          "InvalidVolume.NotFound",
          "InvalidNetworkInterfaceID.NotFound");

  private Ec2Failures() {}

  static AwsException explain(String what, SdkException failure) {
    String code = AwsFailures.code(failure);
    return AwsFailures.explain(kind(code, failure), what, failure, advice(code));
  }

  private static Kind kind(String code, SdkException failure) {
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
    return AwsFailures.passing(failure) || code.equals("IncorrectInstanceState")
        ? Kind.UNAVAILABLE
        : Kind.REFUSED;
  }

  private static String advice(String code) {
    if (QUOTA.contains(code)) {
      return "a quota of this account, counted in vCPUs; ask for more in Service Quotas";
    }
    return code.equals("IdempotentParameterMismatch")
        ? "the file changed since a launch that has no answer yet; undo the change, or delete the"
            + " cluster"
        : "";
  }
}
