package io.troupe.ranks;

import java.time.Duration;

/**
 * What a rank has sent to the next one since it reported.
 *
 * @param sent bytes in the present group, copies included
 * @param copied bytes of copies of its state
 * @param copying time that it took to make and to exchange them
 */
public record RankTraffic(long sent, long copied, Duration copying) {}
