package io.troupe.aws.sagemaker;

import io.troupe.aws.client.AwsException;
import io.troupe.aws.client.AwsException.Kind;
import io.troupe.aws.client.AwsFailures;
import software.amazon.awssdk.core.exception.SdkException;

/** The meaning of error codes of SageMaker and CloudWatch Logs for a job. */
final class SageMakerFailures {
  private SageMakerFailures() {}

  static AwsException explain(String what, SdkException failure) {
    String code = AwsFailures.code(failure);
    return AwsFailures.explain(kind(code, failure), what, failure, advice(code));
  }

  private static Kind kind(String code, SdkException failure) {
    return switch (code) {
      case "ResourceInUse" -> Kind.EXISTS;
      case "ResourceNotFound", "ResourceNotFoundException" -> Kind.ABSENT;
      case "ValidationException" ->
          AwsFailures.said(failure).startsWith("Requested resource not found")
              ? Kind.ABSENT
              : Kind.REFUSED;
      default -> AwsFailures.passing(failure) ? Kind.UNAVAILABLE : Kind.REFUSED;
    };
  }

  private static String advice(String code) {
    return code.equals("ResourceLimitExceeded")
        ? "a quota of this account; ask for more in Service Quotas, or wait for other jobs to end"
        : "";
  }
}
