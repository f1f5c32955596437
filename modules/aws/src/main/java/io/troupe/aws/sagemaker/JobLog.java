package io.troupe.aws.sagemaker;

import io.troupe.aws.client.AwsException;
import io.troupe.aws.client.PatientRequests;
import java.util.HashMap;
import java.util.Map;
import java.util.TreeSet;
import java.util.function.BiConsumer;

/** The output of a job's containers, read from where it was read last. */
final class JobLog {
  private final SdkSageMaker service;
  private final PatientRequests requests;
  private final String job;
  private final BiConsumer<String, String> out;
  private final Map<String, String> places = new HashMap<>();

  /**
   * A log that is not read yet.
   *
   * @param out takes each host and line
   */
  JobLog(
      SdkSageMaker service, PatientRequests requests, String job, BiConsumer<String, String> out) {
    this.service = service;
    this.requests = requests;
    this.job = job;
    this.out = out;
  }

  /** Passes on what is new, host by host. */
  void read() throws AwsException, InterruptedException {
    for (String stream : new TreeSet<>(requests.ask(() -> service.streams(job)))) {
      String host = stream.substring(job.length() + 1).replaceFirst("-\\d{6,}$", "");
      while (true) {
        String from = places.getOrDefault(stream, "");
        SdkSageMaker.LogPage page = requests.ask(() -> service.page(stream, from));
        page.lines().forEach(line -> out.accept(host, line.stripTrailing()));
        places.put(stream, page.next());
        if (page.next().equals(from)) {
          break;
        }
      }
    }
  }
}
