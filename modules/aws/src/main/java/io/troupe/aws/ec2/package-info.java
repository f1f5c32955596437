/** Clusters of EC2 instances: what a person asks for, and the requests that make it so. */
@NullMarked
package io.troupe.aws.ec2;

import org.jspecify.annotations.NullMarked;
