/** What a cluster of EC2 instances consists of, what EC2 shows of it, and the next step. */
@NullMarked
package io.troupe.aws.ec2.plan;

import org.jspecify.annotations.NullMarked;
