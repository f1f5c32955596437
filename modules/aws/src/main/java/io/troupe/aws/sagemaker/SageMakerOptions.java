package io.troupe.aws.sagemaker;

import io.troupe.aws.client.AwsOptions;
import io.troupe.aws.client.PatientRequests;
import io.troupe.aws.client.RecordFolder;
import java.io.IOException;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import picocli.CommandLine.Option;

/** Options of every command about training jobs. */
final class SageMakerOptions extends AwsOptions {
  @Option(
      names = "--patience",
      paramLabel = "MINUTES",
      description = "How long a request is repeated that is not answered (${DEFAULT-VALUE}).")
  private int patience = 10;

  @Option(
      names = "--region",
      paramLabel = "REGION",
      description = "Region of a job that was not submitted from here.")
  private String region = "";

  RecordFolder<JobRecord> folder() throws IOException {
    return new RecordFolder<>(state("sagemaker"), JobRecord.class, JobRecord::name);
  }

  /** A line that a host printed. */
  void line(String host, String line) {
    answer(host + "  " + line, new TreeMap<>(Map.of("host", host, "line", line)));
  }

  PatientRequests requests() {
    return new PatientRequests(surroundings(), Duration.ofMinutes(patience));
  }

  /** Returns this machine's record of a job. */
  Optional<JobRecord> known(String job) throws IOException {
    if (!TrainingJobName.isValid(job)) {
      throw bad("'%s' is no name of a training job".formatted(job));
    }
    return folder().read(job);
  }

  /** The service in the region of a job. */
  SdkSageMaker service(String job, Optional<JobRecord> known) {
    if (region.isEmpty() && known.isEmpty()) {
      throw bad("job %s was not submitted from here; say its --region".formatted(job));
    }
    return new SdkSageMaker(
        clients(region.isEmpty() ? known.map(JobRecord::region).orElse("") : region));
  }
}
