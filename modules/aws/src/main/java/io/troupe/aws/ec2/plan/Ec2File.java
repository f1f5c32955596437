package io.troupe.aws.ec2.plan;

import io.troupe.config.binding.ConfigurationFile;
import io.troupe.config.binding.RuleChecker;
import io.troupe.config.binding.Validated;
import io.troupe.config.schema.Default;
import io.troupe.config.schema.Doc;
import io.troupe.config.schema.Inline;
import io.troupe.config.schema.Range;
import java.nio.file.Path;
import java.util.List;

/** The file of {@code troupe ec2}: what a cluster consists of. */
public record Ec2File(
    @Doc("Region, such as `us-west-2`.") String region,
    @Doc(value = "Hosts.", unit = "instances") @Range(min = 1, max = 1000) int count,
    @Doc("Instance types in order of preference; the next is tried where one has no capacity.")
        List<MachineOffer> machines,
    @Doc("Subnets in order of preference.") List<String> subnets,
    @Doc("Spot instances: cheaper, and taken away two minutes after a notice.") @Default("false")
        boolean spot,
    @Doc("Create a placement group of strategy `cluster`: one zone, the shortest paths.")
        @Default("false")
        boolean placementGroup,
    @Inline HostSection host,
    @Inline BudgetSection budget)
    implements Validated {
  public Ec2File {
    machines = List.copyOf(machines);
    subnets = List.copyOf(subnets);
  }

  /** The software and folders of each instance. */
  public record HostSection(
      @Doc("Image, such as `ami-0123456789abcdef0`.") String image,
      @Doc("Name of the key pair that ssh uses.") String key,
      @Doc("User of the image that ssh logs in as.") @Default("ubuntu") String user,
      @Doc(
              "Security groups. They must let the hosts reach each other on all ports, and you"
                  + " reach port 22.")
          List<String> securityGroups,
      @Doc("Name of an instance profile; empty means none.") @Default("") String instanceProfile,
      @Doc("Name of the image's root device.") @Default("/dev/sda1") String rootDevice,
      @Doc(value = "Size of the root volume.", unit = "GiB")
          @Default("200")
          @Range(min = 8, max = 65536)
          int volume,
      @Doc("Shell commands that root runs at the first start, such as the install of a JDK 25.")
          List<String> setup,
      @Doc("Further tags, each `key=value`.") List<String> tags) {
    public HostSection {
      securityGroups = List.copyOf(securityGroups);
      setup = List.copyOf(setup);
      tags = List.copyOf(tags);
    }
  }

  /** The limits of the cluster's cost. */
  public record BudgetSection(
      @Doc(value = "How long the cluster will be needed, for the estimate.", unit = "hours")
          @Default("24")
          @Range(min = 0, minExclusive = true, max = 1e6)
          double hours,
      @Doc(
              value = "What the estimate, and the cost so far, are held against; 0 means no limit.",
              unit = "USD")
          @Default("0")
          @Range(min = 0)
          double budget,
      @Doc(
              "What follows when the estimate passes the budget: `stop` refuses to create or scale,"
                  + " and `status --enforce` stops the instances; `warn` says so and continues.")
          @Default("stop")
          OnBudget onBudget) {
    /** Whether a cost in USD is greater than the budget. */
    public boolean passed(double cost) {
      return budget > 0 && cost > budget;
    }
  }

  /** The reaction when a cost passes the budget. */
  public enum OnBudget {
    WARN,
    STOP
  }

  /** Reads a file. */
  public static Ec2File load(Path file, List<String> overrides) {
    return ConfigurationFile.load(Ec2File.class, file, overrides).config();
  }

  /** The greatest estimate for that number of hosts, in USD. */
  public double estimate(int hosts) {
    return hosts
        * budget.hours()
        * machines.stream().mapToDouble(MachineOffer::pricePerHour).max().orElse(0);
  }

  /** The price of a type, in USD per hour; 0 where the file does not name the type. */
  public double price(String type) {
    return machines.stream()
        .filter(each -> each.type().equals(type))
        .mapToDouble(MachineOffer::pricePerHour)
        .findFirst()
        .orElse(0);
  }

  @Override
  public void check(RuleChecker rules) {
    rules
        .on("machines")
        .require(
            () -> !machines.isEmpty(),
            "must list an instance type",
            "add '- type: p5.48xlarge' with its price_per_hour");
    rules.on("subnets").require(() -> !subnets.isEmpty(), "must list a subnet", "add one");
    rules
        .on("security_groups")
        .require(() -> !host.securityGroups().isEmpty(), "must list a security group", "add one");
    rules
        .on("tags")
        .require(
            () -> host.tags().stream().allMatch(tag -> tag.matches("(?!troupe:)[^=]{1,128}=.*")),
            "must be key=value, and no key begins with troupe:",
            "write '- team=research'");
    rules
        .on("placement_group", "subnets")
        .require(
            () -> !placementGroup || subnets.stream().distinct().count() == subnets.size(),
            "must not name a subnet twice",
            "remove one");
  }
}
