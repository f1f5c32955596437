/** Requests and commands that make clusters of EC2 instances what their files ask for. */
@NullMarked
package io.troupe.aws.ec2;

import org.jspecify.annotations.NullMarked;
