package io.troupe.aws.ec2.plan;

import io.troupe.aws.ec2.plan.ClusterInstance.MachinePlace;

/**
 * A request for instances, all or none. The same token with the same parameters gives the same
 * instances again, however often it is sent.
 *
 * @param token at most 64 ASCII characters
 * @param firstSentMillis time of the first request, in milliseconds since 1970
 */
public record LaunchRequest(
    String token, int count, MachinePlace place, int efaCards, long firstSentMillis) {}
