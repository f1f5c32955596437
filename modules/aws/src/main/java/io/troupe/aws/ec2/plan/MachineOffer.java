package io.troupe.aws.ec2.plan;

import io.troupe.config.schema.Default;
import io.troupe.config.schema.Doc;
import io.troupe.config.schema.Range;

/** An instance type that a cluster may consist of. */
public record MachineOffer(
    @Doc("Instance type, such as `p5.48xlarge`.") String type,
    @Doc(
            value =
                "What an instance costs, for estimates and the budget. Nothing asks Amazon for it.",
            unit = "USD per hour")
        @Range(min = 0, minExclusive = true)
        double pricePerHour,
    @Doc(
            value = "Network cards that get an EFA interface; 0 means one ordinary interface.",
            unit = "cards")
        @Default("0")
        @Range(min = 0, max = 32)
        int efaCards) {}
