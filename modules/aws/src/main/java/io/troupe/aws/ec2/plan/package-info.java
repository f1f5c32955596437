/** A cluster of EC2 instances: its parts, its state as EC2 shows it, and the next step. */
@NullMarked
package io.troupe.aws.ec2.plan;

import org.jspecify.annotations.NullMarked;
