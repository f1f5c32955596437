package io.troupe.aws.ec2;

import io.troupe.aws.ec2.plan.ClusterInstance;
import io.troupe.aws.ec2.plan.ClusterPart;
import io.troupe.aws.ec2.plan.ClusterPlan;
import io.troupe.aws.ec2.plan.ClusterRecord;
import io.troupe.aws.ec2.plan.Ec2File;
import io.troupe.aws.ec2.plan.ObservedCluster;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** A cluster's hosts file, and what is said of it. */
final class ClusterReport {
  private ClusterReport() {}

  /** A line for each host, the coordinator's first. */
  static String hostsFile(Ec2File file, ObservedCluster cluster) {
    return cluster.live().stream()
        .sorted(ClusterPlan.ORDER)
        .map(each -> file.host().user() + "@" + each.privateAddress() + "\n")
        .collect(Collectors.joining());
  }

  static Map<String, Object> description(String name, Ec2File file, ObservedCluster cluster) {
    List<Map<String, Object>> instances = new ArrayList<>();
    for (ClusterInstance each : cluster.live().stream().sorted(ClusterPlan.ORDER).toList()) {
      Map<String, Object> row = new LinkedHashMap<>();
      row.put("id", each.id());
      row.put("state", each.state().name().toLowerCase(Locale.ROOT));
      row.put("ready", each.ready());
      row.put("type", each.place().type());
      row.put("subnet", each.place().subnet());
      row.put("address", each.privateAddress());
      row.put("public_address", each.publicAddress());
      row.put("hours", hours(each));
      instances.add(row);
    }
    Map<String, Object> answer = new LinkedHashMap<>();
    answer.put("cluster", name);
    answer.put("live", instances.size());
    answer.put("placement_group", cluster.group());
    answer.put(
        "parts",
        cluster.parts().stream()
            .map(
                each ->
                    Map.of(
                        "kind", each.kind().words(),
                        "id", each.id(),
                        "attached_to", each.attachedTo()))
            .toList());
    answer.put("cost_so_far_usd", cost(file, cluster));
    if (file.budget().budget() > 0) {
      answer.put("budget_usd", file.budget().budget());
      answer.put("on_budget", file.budget().onBudget().name().toLowerCase(Locale.ROOT));
      answer.put("budget_passed", file.budget().passed(cost(file, cluster)));
    }
    answer.put("instances", instances);
    return answer;
  }

  /** Hours since the last start; a stopped instance has none. */
  private static double hours(ClusterInstance instance) {
    return instance.state() == ClusterInstance.State.STOPPED
        ? 0
        : Math.max(0, System.currentTimeMillis() - instance.launchedAtMillis()) / 3.6e6;
  }

  /** Returns the cost of the live instances since their last start, in USD. */
  static double cost(Ec2File file, ObservedCluster cluster) {
    return cluster.live().stream()
        .mapToDouble(each -> hours(each) * file.price(each.place().type()))
        .sum();
  }

  static String table(Ec2File file, ObservedCluster cluster) {
    StringBuilder text = new StringBuilder();
    for (ClusterInstance each : cluster.live().stream().sorted(ClusterPlan.ORDER).toList()) {
      text.append(
          text(
              "%-20s %-8s %-8s %-14s %-15s %s%n",
              each.id(),
              each.state().name().toLowerCase(Locale.ROOT),
              each.ready() ? "ready" : "",
              each.place().type(),
              each.privateAddress(),
              each.publicAddress()));
    }
    for (ClusterPart each : cluster.detached()) {
      text.append(text("%s is detached; ec2 delete deletes it%n", each.words()));
    }
    return text.append(
            text(
                "%d instances, %.2f USD since their last start by the prices in the file%s",
                cluster.live().size(), cost(file, cluster), budget(file, cost(file, cluster))))
        .toString();
  }

  /** Returns the resources that are left to be deleted, for a message. */
  static String remains(ClusterRecord known, ObservedCluster cluster) {
    List<String> all = new ArrayList<>();
    cluster.live().forEach(each -> all.add("instance " + each.id()));
    Stream.concat(cluster.attachedWithin().stream(), cluster.detached().stream())
        .forEach(each -> all.add(each.words()));
    if (cluster.group()) {
      all.add("placement group " + ClusterDriver.groupOf(known));
    }
    return all.isEmpty() ? "nothing, EC2 shows nothing of it" : String.join(", ", all);
  }

  private static String budget(Ec2File file, double cost) {
    return file.budget().budget() == 0
        ? ""
        : text(
            "; budget %.2f USD%s, on_budget: %s",
            file.budget().budget(),
            file.budget().passed(cost) ? " is passed" : "",
            file.budget().onBudget().name().toLowerCase(Locale.ROOT));
  }

  static String text(String format, Object... values) {
    return String.format(Locale.ROOT, format, values);
  }
}
